/** `holdfast/dashboard`: a page that shows all queues, live. */
export type { Admits } from './auth.ts';
export { type Dashboard, type DashboardOptions, dashboard } from './dashboard.ts';
