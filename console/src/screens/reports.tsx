import '../later.css';
import { Avatar, useQuery } from '@fanfare/react';
import { Flag } from 'lucide-react';
import { useEffect, useMemo, useState, type ReactNode } from 'react';
import { hrefTo, useRoute } from '../route.ts';
import { LISTED, PageLinks, type ActionPage, type ListedAction } from '../ui/action-list.tsx';
import { AsCode } from '../ui/as-code.tsx';
import { ConfirmDialog } from '../ui/confirm.tsx';
import { counted } from '../ui/count.ts';
import { Entry } from '../ui/entry.tsx';
import { PRESETS, ReasonPresets } from '../ui/reason-presets.tsx';
import { letterOf, useRowKeys } from '../ui/row-keys.ts';
import { States, Teach } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';
import { useClient } from '../ui/use-client.ts';
import { useEvery } from '../ui/use-every.ts';

const MEMBER = 'memberId name imageUrl';
const REPORTS = `query Reports($state: ReportState, $after: String) { reports(state: $state, first: 20, after: $after) {
  edges { node { id state targetKind count isWithheld openedAt resolvedAt outcome takenBy { ${MEMBER} } resolvedBy { ${MEMBER} }
    member { ${MEMBER} } action { ${LISTED} } interaction { id kind text at state actor { ${MEMBER} } }
    entries { reason text at reporter { ${MEMBER} } } } }
  pageInfo { hasNextPage endCursor } } }`;
const TAKE = 'mutation Take($id: ID!) { takeReport(id: $id) { id } }';
const RESOLVE = `mutation Resolve($id: ID!, $outcome: String!, $isDismissed: Boolean) {
  resolveReport(id: $id, outcome: $outcome, isDismissed: $isDismissed) { id } }`;
const HIDE_ACTION =
  'mutation HideAction($id: ID!, $reason: String) { hideAction(id: $id, reason: $reason) { id } }';
const HIDE_INTERACTION =
  'mutation HideInteraction($id: ID!, $reason: String) { hideInteraction(id: $id, reason: $reason) { id } }';
const REPORT = 'mutation Report($id: ID!) { report(actionId: $id, reason: "spam") { state } }';
const EVERY_MS = 10_000;
const NOTHING = 'Nothing had to be done';

const STATES = [
  ['', 'All'],
  ['OPEN', 'Open'],
  ['TAKEN', 'Taken'],
  ['RESOLVED', 'Resolved'],
  ['DISMISSED', 'Dismissed'],
] as const;
type State = Exclude<(typeof STATES)[number][0], ''>;
const MARKS: Readonly<Record<State, string>> = {
  OPEN: 'bad',
  TAKEN: 'busy',
  RESOLVED: 'good',
  DISMISSED: 'good',
};

interface Member {
  readonly memberId: string;
  readonly name: string;
  readonly imageUrl: string | null;
}
interface Report {
  readonly id: string;
  readonly state: State;
  readonly targetKind: 'ACTION' | 'INTERACTION' | 'MEMBER';
  readonly count: number;
  readonly isWithheld: boolean;
  readonly openedAt: string;
  readonly resolvedAt: string | null;
  readonly outcome: string | null;
  readonly takenBy: Member | null;
  readonly resolvedBy: Member | null;
  readonly member: Member | null;
  readonly action: ListedAction | null;
  readonly interaction: {
    readonly id: string;
    readonly kind: string;
    readonly text: string | null;
    readonly at: string;
    readonly state: string;
    readonly actor: Member;
  } | null;
  readonly entries: readonly {
    readonly reason: string;
    readonly text: string | null;
    readonly at: string;
    readonly reporter: Member | null;
  }[];
}
interface Data {
  readonly reports: {
    readonly edges: readonly { readonly node: Report }[];
    readonly pageInfo: ActionPage['pageInfo'];
  };
}

/** What members have reported, the most often reported first: taken by one, and ended by hiding it or by saying why not. */
export function ReportsScreen(): ReactNode {
  const { query } = useRoute();
  const state = STATES.find(([one]) => one === query.get('state'))?.[0] ?? '';
  const { data, error, isLoading, reload } = useQuery<Data>(REPORTS, {
    state: state === '' ? null : state,
    after: query.get('after'),
  });
  useEvery(EVERY_MS, reload);
  useRowKeys('.reports > li');
  const { shown, waiting, showAll } = useStill(
    `${state} ${query.get('after') ?? ''}`,
    useMemo(() => data?.reports.edges.map(({ node }) => node), [data]),
  );
  return (
    <>
      <nav className="tabs" aria-label="Which reports">
        {STATES.map(([name, title]) => (
          <a
            key={name}
            href={hrefTo('moderation', 'reports', { state: name })}
            aria-current={name === state ? 'true' : undefined}
          >
            {title}
          </a>
        ))}
      </nav>
      <States
        {...{ isLoading, error }}
        isEmpty={data !== undefined && shown.length === 0}
        onRetry={reload}
        empty={
          state === '' ? (
            <Teach icon={Flag} title="Nothing has been reported." code={REPORT}>
              What members report is listed here, what is reported most often first.
            </Teach>
          ) : (
            'None of these.'
          )
        }
      >
        {/* Its place is kept, so that nothing moves when it comes. */}
        <div data-fanfare="new-items">
          {waiting > 0 && (
            <button type="button" onClick={showAll}>
              {waiting} new
            </button>
          )}
        </div>
        <p className="hint">J and K go on and back, H hides, D dismisses.</p>
        <ReasonPresets />
        <ul className="reports" aria-label="Reports">
          {shown.map(({ report, isHere }) => (
            <li
              key={report.id}
              className="card"
              tabIndex={-1}
              data-gone={isHere ? undefined : ''}
              onKeyDown={(event) => event.repeat || press(letterOf(event), event.currentTarget)}
            >
              <ReportCard {...{ report, isHere }} onChange={reload} />
            </li>
          ))}
        </ul>
        <PageLinks info={data?.reports.pageInfo} />
      </States>
      <AsCode query={RESOLVE} variables={{ id: data?.reports.edges[0]?.node.id ?? '', outcome: '' }} />
    </>
  );
}

/** By the buttons of the row, so that what cannot be done has no key either. */
function press(letter: string, row: Element): void {
  if (letter === 'h' || letter === 'd')
    row.querySelector<HTMLButtonElement>(`[aria-keyshortcuts="${letter}"]`)?.click();
}

interface Shown {
  readonly report: Report;
  /** Still one of those that were asked for. */
  readonly isHere: boolean;
}

/**
 * A list that is read again and again, and whose order changes: what is shown stays where it is, under a pointer or a finger;
 * what is new waits until it is asked for.
 * @param latest the same array until it was read again
 * @param key tells lists apart: another one begins with what is latest
 */
function useStill(
  key: string,
  latest: readonly Report[] | undefined,
): { readonly shown: readonly Shown[]; readonly waiting: number; readonly showAll: () => void } {
  const [still, setStill] = useState<{ readonly key: string; readonly reports: readonly Report[] } | null>(
    null,
  );
  const before = still?.key === key ? still.reports : [];
  const now = new Map(latest?.map((report) => [report.id, report]));
  const reports = before.length === 0 ? (latest ?? []) : before.map((one) => now.get(one.id) ?? one);
  // What is gone from the list is remembered as it was last.
  useEffect(() => {
    if (latest !== undefined) setStill({ key, reports });
  }, [key, latest]);
  return {
    shown: reports.map((report) => ({ report, isHere: now.has(report.id) })),
    waiting: [...now.keys()].filter((id) => reports.every((one) => one.id !== id)).length,
    showAll: () => setStill({ key, reports: latest ?? [] }),
  };
}

interface CardProps {
  readonly report: Report;
  readonly onChange: () => void;
}

function ReportCard({ report, isHere, onChange }: CardProps & Shown): ReactNode {
  const { state, count, isWithheld, openedAt, entries, takenBy, resolvedBy, resolvedAt, outcome } = report;
  const isOver = state === 'RESOLVED' || state === 'DISMISSED';
  return (
    <>
      <p className="meta">
        <strong className="state" data-is={MARKS[state]}>
          {STATES.find(([one]) => one === state)?.[1]}
        </strong>
        <span>{counted(count, 'report')}</span>
        <span>
          since <Time at={openedAt} />
        </span>
        {isWithheld && <strong>hidden until somebody has looked</strong>}
        {takenBy !== null && !isOver && (
          <span>
            taken by <Name of={takenBy} />
          </span>
        )}
      </p>
      <Target report={report} />
      <ul className="plain reasons-given" aria-label="Why">
        {entries.map(({ reason, text, at, reporter }, n) => (
          <li key={n}>
            <strong dir="auto">{reason}</strong> {text !== null && <q dir="auto">{text}</q>}{' '}
            <span className="quiet">
              {reporter !== null && (
                <>
                  <Name of={reporter} />{' '}
                </>
              )}
              <Time at={at} />
            </span>
          </li>
        ))}
      </ul>
      {isOver ? (
        <p className="quiet">
          {state === 'DISMISSED' ? 'Dismissed' : 'Resolved'}
          {resolvedBy !== null && (
            <>
              {' '}
              by <Name of={resolvedBy} />
            </>
          )}
          {resolvedAt !== null && (
            <>
              {' '}
              <Time at={resolvedAt} />
            </>
          )}
          {outcome !== null && (
            <>
              : <span dir="auto">{outcome}</span>
            </>
          )}
        </p>
      ) : isHere ? (
        <Ending {...{ report, onChange }} />
      ) : (
        <p className="quiet">It is not in this list any more.</p>
      )}
    </>
  );
}

function Name({ of: { memberId, name } }: { readonly of: Member }): ReactNode {
  return (
    <a href={hrefTo('slice', memberId)} dir="auto">
      {name}
    </a>
  );
}

/** What moderators can hide: null for a member, and if it is gone. The action with a reported interaction is not meant. */
function hideableOf({ targetKind, action, interaction }: Report): { readonly id: string } | null {
  return targetKind === 'INTERACTION' ? interaction : targetKind === 'ACTION' ? action : null;
}

/** What was reported, and where it is. */
function Target({ report }: { readonly report: Report }): ReactNode {
  const { targetKind, action, interaction, member } = report;
  if (targetKind === 'MEMBER' ? member === null : hideableOf(report) === null)
    return <p className="quiet">It is gone.</p>;
  if (interaction !== null)
    return (
      <div className="entry">
        <Avatar
          id={interaction.actor.memberId}
          name={interaction.actor.name}
          src={interaction.actor.imageUrl}
        />
        <div>
          <p>
            <Name of={interaction.actor} />:{' '}
            <span dir="auto">{interaction.text ?? interaction.kind.toLowerCase()}</span>
          </p>
          <p className="meta">
            <Time at={interaction.at} />
            {interaction.state === 'HIDDEN' && <strong>hidden</strong>}
            {action !== null && <a href={hrefTo('action', action.id)}>to {action.descriptor.summary}</a>}
          </p>
        </div>
      </div>
    );
  if (action !== null) return <Entry action={action} meta={action.isHidden && <strong>hidden</strong>} />;
  return (
    member !== null && (
      <div className="entry">
        <Avatar id={member.memberId} name={member.name} src={member.imageUrl} />
        <p>
          <Name of={member} /> <span className="quiet">as a member</span>
        </p>
      </div>
    )
  );
}

interface End {
  readonly title: string;
  readonly confirm: string;
  readonly run: () => Promise<unknown>;
}

/** Takes it, and ends it with what was done. An end is for good, so it is asked for. */
function Ending({ report, onChange }: CardProps): ReactNode {
  const { id, state, targetKind } = report;
  const hideable = hideableOf(report);
  const client = useClient();
  const [outcome, setOutcome] = useState('');
  const [failure, setFailure] = useState('');
  const [end, setEnd] = useState<End | null>(null);
  const words = outcome.trim();
  const run = async (change: () => Promise<unknown>): Promise<void> => {
    try {
      await change();
      setFailure('');
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error));
    }
    onChange();
  };
  const resolve = (said: string, isDismissed: boolean) =>
    client.request(RESOLVE, { id, outcome: words === '' ? said : words, isDismissed });
  const hide = async (): Promise<void> => {
    const mutation = targetKind === 'INTERACTION' ? HIDE_INTERACTION : HIDE_ACTION;
    await client.request(mutation, { id: hideable?.id, ...(words === '' ? {} : { reason: words }) });
    await resolve('Hidden', false);
  };
  return (
    <>
      <div className="filters" role="group" aria-label="End the report">
        {state === 'OPEN' && (
          <button type="button" onClick={() => void run(() => client.request(TAKE, { id }))}>
            Take
          </button>
        )}
        <label>
          What was done
          <input
            list={PRESETS}
            value={outcome}
            maxLength={2000}
            onChange={(event) => setOutcome(event.target.value)}
          />
        </label>
        {hideable !== null && (
          <button
            type="button"
            className="danger"
            aria-keyshortcuts="h"
            onClick={() => setEnd({ title: 'Hide it from everybody?', confirm: 'Hide', run: hide })}
          >
            Hide it …
          </button>
        )}
        <button
          type="button"
          disabled={words === ''}
          title={words === '' ? 'Say what was done' : undefined}
          onClick={() =>
            setEnd({
              ...{ title: 'End the report as resolved?', confirm: 'Resolve' },
              run: () => resolve(words, false),
            })
          }
        >
          Resolve …
        </button>
        <button
          type="button"
          aria-keyshortcuts="d"
          onClick={() =>
            setEnd({
              ...{ title: 'End the report, with nothing done?', confirm: 'Dismiss' },
              run: () => resolve(NOTHING, true),
            })
          }
        >
          Dismiss …
        </button>
      </div>
      <ConfirmDialog
        isOpen={end !== null}
        title={end?.title ?? ''}
        confirm={end?.confirm ?? ''}
        onConfirm={() => {
          setEnd(null);
          if (end !== null) void run(end.run);
        }}
        onClose={() => setEnd(null)}
      >
        <p dir="auto">{words === '' ? NOTHING : words}</p>
      </ConfirmDialog>
      {failure !== '' && (
        <p role="alert" className="alert">
          {failure}
        </p>
      )}
    </>
  );
}
