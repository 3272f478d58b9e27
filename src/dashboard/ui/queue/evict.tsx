/** Evicts a holder or waiter, after its resource's name has been typed and a reason given. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { EvictRequest, Seat } from '../../wire.ts';
import { Who } from './seat.tsx';

interface EvictProps {
  readonly name: string;
  readonly seat: Seat;
  readonly close: () => void;
}

export function Evict({ name, seat, close }: EvictProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [typed, setTyped] = useState('');
  const [reason, setReason] = useState('');
  const [now, setNow] = useState(false);
  const [error, setError] = useState('');
  useEffect(() => dialog.current?.showModal(), []);
  const send = async (event: Event): Promise<void> => {
    event.preventDefault();
    const body: EvictRequest = { name, token: seat.token, reason, now, typed };
    const headers = { 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    const answer = await fetch('evict', init).catch(() => undefined);
    if (answer?.ok) return dialog.current?.close();
    const said = await answer?.json().catch(() => undefined);
    setError(said?.error ?? 'The dashboard does not reply.');
  };
  return (
    <dialog ref={dialog} onClose={close} aria-labelledby="evict-title">
      <form onSubmit={send}>
        <h2 id="evict-title">{seat.holds ? 'Take this lock away' : 'Take this waiter out'}</h2>
        <p>
          <Who who={seat} /> {fateOf(seat, now)}
        </p>
        <label>
          Reason (the {seat.holds ? 'holder' : 'waiter'} will see it)
          <input
            value={reason}
            required
            maxLength={300}
            onInput={({ currentTarget }) => setReason(currentTarget.value)}
          />
        </label>
        <label>
          <span>
            Type <bdi class="name">{name}</bdi> to confirm
          </span>
          <input
            value={typed}
            required
            autocomplete="off"
            spellcheck={false}
            onInput={({ currentTarget }) => setTyped(currentTarget.value)}
          />
        </label>
        {seat.holds && (
          <label class="check">
            <input type="checkbox" checked={now} onInput={() => setNow(!now)} />
            <span>
              At once
              <small>
                The next holder starts while this one may still be working. Only fencing protects
                your data then.
              </small>
            </span>
          </label>
        )}
        {error && (
          <p class="error" role="alert">
            {error}
          </p>
        )}
        <footer>
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button type="submit" class="danger" disabled={typed !== name || reason === ''}>
            Evict
          </button>
        </footer>
      </form>
    </dialog>
  );
}

/** What becomes of it, after its name. */
function fateOf({ holds }: Seat, now: boolean): string {
  if (!holds) return 'will stop waiting.';
  if (now) return 'loses the lock at once, and learns of it at its next heartbeat.';
  return 'learns of it at its next heartbeat, and has until its time runs out to stop.';
}
