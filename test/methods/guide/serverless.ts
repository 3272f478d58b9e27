import { after, buildReport, locks, render, send } from './serverless-world.ts';

export const maxDuration = 60; // seconds: the platform ends the function then

export async function POST(request: Request): Promise<Response> {
  const { id } = (await request.json()) as { id: string };
  const invoice = locks.mutex(`invoice:${id}`, { heartbeat: false, ttl: '75s' });
  const result = await invoice.tryRun(async (lease) => {
    const pdf = await render(id);
    lease.assertHeld(); // before what cannot be undone
    await send(pdf, { token: lease.token });
  });
  if (result.acquired) return Response.json({ sent: id });
  const busy = { status: 409, headers: { 'Retry-After': '10' } };
  return Response.json({ error: 'It is being sent.' }, busy);
}

export async function startReport(): Promise<Response> {
  const report = locks.mutex('report', { heartbeat: false, ttl: '75s' });
  const lease = await report.tryAcquire();
  if (!lease) return Response.json({ error: 'It is being made.' }, { status: 409 });
  after(async () => {
    try {
      await buildReport(lease.signal);
    } finally {
      await lease.release();
    }
  });
  return Response.json({ started: true }, { status: 202 });
}
