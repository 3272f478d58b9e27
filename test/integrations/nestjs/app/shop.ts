/** The application of the guide "NestJS", which shows parts of this file. */
import { Controller, Get, Inject, Injectable, Module, Param, Post } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { HealthCheck, HealthCheckService, TerminusModule } from '@nestjs/terminus';
import { currentLease, locked } from 'holdfast';
import {
  HoldfastModule,
  LockExceptionFilter,
  Locks,
  LocksHealthIndicator,
  locksToken,
} from 'holdfast/nestjs';
import { Warehouse } from './warehouse';

@Injectable()
export class Orders {
  constructor(
    private readonly locks: Locks,
    private readonly warehouse: Warehouse,
  ) {}

  @locked(
    (self: Orders) => self.locks,
    (id: string) => `order:${id}`,
    { wait: '5s' },
  )
  async ship(id: string): Promise<string> {
    return this.warehouse.send(id, currentLease()?.signal);
  }
}

@Controller('orders')
export class OrdersController {
  constructor(private readonly orders: Orders) {}

  @Post(':id/ship')
  ship(@Param('id') id: string): Promise<string> {
    return this.orders.ship(id);
  }
}

@Controller()
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly locks: LocksHealthIndicator,
  ) {}

  @Get('health')
  @HealthCheck()
  check() {
    return this.health.check([() => this.locks.isHealthy('locks', { timeout: '1s' })]);
  }
}

@Module({
  imports: [
    TerminusModule,
    HoldfastModule.forRoot({
      store: process.env.LOCKS ?? 'sqlite:./locks.db',
      prefix: 'shop:',
      drain: '20s',
      isGlobal: true,
    }),
  ],
  controllers: [OrdersController, HealthController],
  providers: [Orders, Warehouse, { provide: APP_FILTER, useClass: LockExceptionFilter }],
})
export class AppModule {}

@Injectable()
export class Audit {
  constructor(@Inject(locksToken('audit')) readonly locks: Locks) {}
}

/** What other modules provide, as `ConfigModule` does. */
@Injectable()
export class Config {
  readonly closed: string[] = [];
  url = 'memory:';

  onApplicationShutdown(): void {
    this.closed.push('config');
  }
}

@Module({ providers: [Config], exports: [Config] })
export class ConfigModule {}

@Module({
  imports: [
    ConfigModule,
    HoldfastModule.forRootAsync({
      imports: [ConfigModule],
      inject: [Config],
      useFactory: async (config: Config) => ({ store: config.url, prefix: 'async:' }),
    }),
    HoldfastModule.forRootAsync({ name: 'audit', useFactory: () => 'memory:' }),
  ],
  providers: [Audit],
})
export class AsyncModule {
  constructor(readonly locks: Locks) {}
}

/** On routes, whose decorators are above and below. */
@Controller('routes')
export class RoutesController {
  constructor(readonly locks: Locks) {}

  @Get('above/:id')
  @locked(
    (self: RoutesController) => self.locks,
    (id: string) => `route:${id}`,
  )
  async above(@Param('id') id: string): Promise<string> {
    return `${id} under ${currentLease()?.resource}`;
  }

  @locked(
    (self: RoutesController) => self.locks,
    (id: string) => `route:${id}`,
  )
  @Get('below/:id')
  async below(@Param('id') id: string): Promise<string> {
    return `${id} under ${currentLease()?.resource}`;
  }

  @Get('busy')
  @locked((self: RoutesController) => self.locks, 'busy', { wait: 1 })
  async busy(): Promise<string> {
    return 'free';
  }
}

@Module({
  imports: [HoldfastModule.forRoot('memory:')],
  controllers: [RoutesController],
  providers: [{ provide: APP_FILTER, useClass: LockExceptionFilter }],
})
export class RoutesModule {}
