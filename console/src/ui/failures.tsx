import { RotateCw } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { ConfirmDialog } from './confirm.tsx';

/** Something that failed, and can be tried again. */
export interface Failure {
  readonly id: string;
  /** What failures are put together by. */
  readonly cause: string;
  /** In one line, for the dialog. */
  readonly title: string;
  readonly shown: ReactNode;
}

interface Props {
  /** Undefined: they could not be read. */
  readonly failures: readonly Failure[] | undefined;
  /** Whether there are more than these; then `readAll` gives them too. */
  readonly isMore: boolean;
  readonly readAll: () => Promise<readonly Failure[]>;
  /** Of several, such as "deliveries". */
  readonly noun: string;
  /** By what they were chosen. */
  readonly filter: string;
  readonly empty: ReactNode;
  readonly retry: (id: string) => Promise<unknown>;
  /** After all that were chosen have been tried again. */
  readonly onDone: () => void;
}

/** Failures under their errors: one, a group or all of them again. Before it is many, it is shown which. */
export function FailureGroups({
  failures: known,
  isMore,
  readAll,
  noun,
  filter,
  empty,
  retry,
  onDone,
}: Props): ReactNode {
  const [asked, setAsked] = useState<readonly Failure[]>([]);
  const [said, setSaid] = useState('');
  const failures = known ?? [];
  const groups = new Map<string, Failure[]>();
  for (const failure of failures) groups.set(failure.cause, [...(groups.get(failure.cause) ?? []), failure]);
  /** @param cause of which they are to be; absent: any */
  const ask = async (cause?: string): Promise<void> => {
    try {
      setSaid(isMore ? 'Counting …' : '');
      const all = isMore ? await readAll() : failures;
      setAsked(all.filter((one) => cause === undefined || one.cause === cause));
      setSaid('');
    } catch (error) {
      setSaid(error instanceof Error ? error.message : String(error));
    }
  };
  const retryAll = async (chosen: readonly Failure[]): Promise<void> => {
    setAsked([]);
    let [done, refusal] = [0, ''];
    for (const [at, { id }] of chosen.entries()) {
      if (at % 25 === 0) setSaid(`${String(at)} of ${String(chosen.length)} …`);
      try {
        await retry(id);
        done += 1;
      } catch (error) {
        refusal = error instanceof Error ? error.message : String(error);
      }
    }
    setSaid(`${String(done)} of ${String(chosen.length)} tried again${refusal === '' ? '' : `: ${refusal}`}`);
    onDone();
  };
  return (
    <>
      <p className="buttons">
        {failures.length > 0 && (
          <>
            <button type="button" onClick={() => void ask()}>
              <RotateCw aria-hidden="true" /> Retry all …
            </button>
            <span className="quiet">
              {failures.length}
              {isMore ? '+' : ''} shown
            </span>
          </>
        )}
        <span role="status">{said}</span>
      </p>
      {known?.length === 0 && <div className="empty">{empty}</div>}
      {[...groups].map(([cause, group]) => (
        <section key={cause} className="card">
          <h3 dir="auto">{cause}</h3>
          <p className="buttons">
            <span className="quiet">
              {group.length}
              {isMore ? '+' : ''} {noun}
            </span>
            <button type="button" onClick={() => void ask(cause)}>
              Retry these …
            </button>
          </p>
          <ul className="actions">
            {group.map((failure) => (
              <li key={failure.id}>
                <div>
                  {failure.shown}
                  <button type="button" onClick={() => void retryAll([failure])}>
                    Retry
                  </button>
                </div>
              </li>
            ))}
          </ul>
        </section>
      ))}
      <ConfirmDialog
        isOpen={asked.length > 0}
        title={`Retry ${String(asked.length)} ${noun}?`}
        confirm="Retry"
        onConfirm={() => void retryAll(asked)}
        onClose={() => setAsked([])}
      >
        <Chosen {...{ asked, filter }} />
      </ConfirmDialog>
    </>
  );
}

function Chosen({
  asked,
  filter,
}: {
  readonly asked: readonly Failure[];
  readonly filter: string;
}): ReactNode {
  const causes = new Set(asked.map(({ cause }) => cause));
  const [cause = ''] = causes;
  return (
    <>
      <p>
        <span>{filter}</span>,{' '}
        {causes.size === 1 ? <bdi>{cause}</bdi> : <span>{`${String(causes.size)} errors`}</span>}. The first
        five:
      </p>
      <ul>
        {asked.slice(0, 5).map(({ id, title }) => (
          <li key={id} dir="auto">
            {title}
          </li>
        ))}
      </ul>
      {asked.length > 5 && <p>and {asked.length - 5} more.</p>}
    </>
  );
}
