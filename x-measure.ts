import { FAULTS } from './test/methods/teeth/catalogue.ts';
import { cheapest, readRecord } from './test/methods/teeth/record.ts';
import { notices } from './test/methods/teeth/noticing.ts';
import { Trial } from './test/methods/teeth/trial.ts';
const rec = readRecord();
const cpu = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1e6; };
let c = cpu(); const step = (s: string) => { const n = cpu(); console.log((n - c).toFixed(2), s); c = n; };
step('start');
const trial = await Trial.open(); step('open');
const list = FAULTS.filter((f) => { const n = cheapest(rec.get(f.name)); return n?.file?.startsWith(process.argv[2] ?? 'test/core/deadline.test') && !n.hung; }).slice(0, 8);
for (const f of list) { const n = cheapest(rec.get(f.name))!; const t = Date.now(); console.log(await trial.with(f, () => notices(trial, n)), (Date.now() - t) / 1000); step(f.name); }
const t2 = await Trial.open(); step('open 2');
for (const f of list.slice(0, 2)) { const n = cheapest(rec.get(f.name))!; console.log(await t2.with(f, () => notices(t2, n))); step(f.name); }
process.exit();
