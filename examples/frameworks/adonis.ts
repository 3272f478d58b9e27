/** AdonisJS: `Locks` in the container, closed at the end, and a status for who is refused. */
import { ExceptionHandler, type HttpContext } from '@adonisjs/core/http';
import type { ApplicationService } from '@adonisjs/core/types';
import { Locks, refusalOf } from 'holdfast';
import { connect } from 'holdfast/connect';
import { ship } from './ship.ts';

/** In providers/locks_provider.ts. */
export class LocksProvider {
  constructor(protected app: ApplicationService) {}

  register(): void {
    const open = () => connect(process.env.LOCKS ?? 'redis://localhost');
    this.app.container.singleton(Locks, open);
  }

  async shutdown(): Promise<void> {
    await (await this.app.container.make(Locks)).close({ drain: '10s' });
  }
}

/** In app/controllers/orders_controller.ts, with `@inject()` of `@adonisjs/core`. */
export class OrdersController {
  constructor(protected locks: Locks) {}

  async ship({ params: { id } }: HttpContext): Promise<{ sent: string }> {
    const order = this.locks.mutex(`order:${id}`);
    return { sent: await order.run({ wait: '1s' }, ({ signal }) => ship(`${id}`, signal)) };
  }
}

/** In app/exceptions/handler.ts. */
export class HttpExceptionHandler extends ExceptionHandler {
  override async handle(error: unknown, ctx: HttpContext): Promise<unknown> {
    const refusal = refusalOf(error);
    if (!refusal) return super.handle(error, ctx);
    ctx.response.status(refusal.status).header('Retry-After', String(refusal.retryAfter));
    return ctx.response.send({ error: 'Busy.' });
  }
}
