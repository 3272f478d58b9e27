import type { Fault } from '../fault.ts';

const clock = { file: 'src/base/clock.ts' };
const machine = { file: 'src/clients/sqlite/machine.ts' };
const layout = { file: 'src/stores/sqlite/layout.ts' };

/** Clocks, suspended machines and reboots. */
export const MACHINE_FAULTS: readonly Fault[] = [
  {
    ...clock,
    name: 'deadlines are read from the wall clock',
    find: 'const monotonicMs = performance.now.bind(performance);',
    replace: 'const monotonicMs = () => Date.now();',
    why: 'two holders when the clock is set back',
  },
  {
    ...clock,
    name: 'time in a suspended machine does not count',
    find: 'suspended += counted;',
    replace: '',
    why: 'a laptop wakes up and believes that it still holds',
  },
  {
    ...clock,
    name: 'a step of the wall clock counts as time',
    find: 'const gained = boot - bootAt - passed;',
    replace: 'const gained = wall - wallAt - passed + 0 * (boot - bootAt);',
    why: 'all locks are lost when the clock is set forward',
  },
  {
    ...clock,
    name: 'the whole seconds of a boot clock count as time asleep',
    find: 'SUSPEND_MS + 2 * blurMs',
    replace: 'SUSPEND_MS',
    why: 'on macOS and the BSDs leases end up to a second before their time',
  },
  {
    ...clock,
    name: 'what the whole seconds of a boot clock hide is not counted',
    find: 'gained + blurMs',
    replace: 'gained',
    why: 'on macOS and the BSDs a lease lives on for up to a second after a suspend',
  },
  {
    ...clock,
    name: 'nobody is told that the clock may have stood still',
    find: 'if (ahead > SUSPEND_MS) for',
    replace: 'if (ahead > 1e15) for',
    why: 'a virtual machine that was stopped with its clocks wakes up sure of its leases',
  },
  {
    ...machine,
    name: 'SQLite claims live by the wall clock',
    find: 'nowUs: monotonicClock(),',
    replace: 'nowUs: () => Date.now() * 1000,',
    why: 'two holders when the clock is set forward',
  },
  {
    ...layout,
    name: 'a reboot keeps claims',
    find: "if (boot ? meta.boot !== boot : meta.boot !== '' || meta.base + now < meta.highest) {",
    replace: 'if (meta.layout < 0) {',
    why: 'locks are held by processes that are gone, for as long as the machine was up',
  },
  {
    ...layout,
    name: 'after a reboot tokens begin where the file says they ended',
    find: 'highest + HOUR_US);',
    replace: 'highest);',
    why: 'a power cut took back the last minute: tokens come twice',
  },
  {
    ...layout,
    name: 'after a reboot tokens begin with the wall clock alone',
    find: 'const start = Math.max(Math.min(machine.wallUs(), MAX_WALL_US), highest + HOUR_US);',
    replace: 'const start = Math.min(machine.wallUs(), MAX_WALL_US) + 0 * (highest + HOUR_US);',
    why: 'tokens come twice when the clock was set back',
  },
];
