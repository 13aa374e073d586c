import '../later.css';
import { ScrollText } from 'lucide-react';
import { useRef, type ReactNode } from 'react';
import { goTo, hrefTo, useRoute } from '../route.ts';
import { ActionLine, LISTED, type ActionPage, type ListedAction } from '../ui/action-list.tsx';
import { AsCode } from '../ui/as-code.tsx';
import { shownNumber } from '../ui/count.ts';
import { Time } from '../ui/time.tsx';
import { States, Teach } from '../ui/states.tsx';
import { useTail, type Came } from '../ui/tail.ts';
import { useClient } from '../ui/use-client.ts';
import { wordFor } from '../ui/words.ts';

const EVERY_MS = 1_500;
const ACTIONS = `query TailActions($fanOutState: FanOutState, $after: String) {
  actions(first: 100, after: $after, includeHidden: true, fanOutState: $fanOutState) {
    edges { node { ${LISTED} } } pageInfo { hasNextPage endCursor } } }`;
const EVENTS = `query TailEvents($after: String) {
  hostEvents(first: 1000, after: $after) {
    edges { node { id type at data } } pageInfo { hasNextPage endCursor } } }`;
const KINDS = [
  ['actions', 'Actions'],
  ['events', 'Events for hosts'],
] as const;
/** Pages that are read at once to come to what is known, or to the end of the log. */
const PAGES_AT_ONCE = 10;
const KNOWN = 2_000;

interface HostEvent {
  readonly id: string;
  readonly type: string;
  readonly at: string;
  readonly data: unknown;
}

interface EventPage {
  readonly hostEvents: {
    readonly edges: readonly { readonly node: HostEvent }[];
    readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  };
}

/** What is recorded and what hosts are notified of, as it happens. */
export function TailScreen(): ReactNode {
  const { query } = useRoute();
  const kind = KINDS.find(([one]) => one === query.get('of'))?.[0] ?? 'actions';
  const state = query.get('state') ?? '';
  return (
    <>
      <div className="filters">
        <nav className="tabs" aria-label="Of what">
          {KINDS.map(([name, title]) => (
            <a
              key={name}
              href={hrefTo('tail', '', { of: name })}
              aria-current={name === kind ? 'true' : undefined}
            >
              {title}
            </a>
          ))}
        </nav>
        {kind === 'actions' && (
          <select
            aria-label="Fan-out"
            value={state}
            onChange={(event) => goTo('tail', '', { state: event.target.value })}
          >
            <option value="">Any state</option>
            {['PENDING', 'IN_PROGRESS', 'DONE', 'FAILED'].map((one) => (
              <option key={one} value={one}>
                {wordFor(one)}
              </option>
            ))}
          </select>
        )}
      </div>
      {kind === 'actions' ? <ActionTail key={state} state={state} /> : <EventTail />}
    </>
  );
}

function ActionTail({ state }: { readonly state: string }): ReactNode {
  const client = useClient();
  /** Null until the first look. */
  const known = useRef<ReadonlySet<string> | null>(null);
  const variables = { fanOutState: state === '' ? null : state };
  const readPage = async (after: string | null): Promise<ActionPage> => {
    const given = { ...variables, after };
    return (await client.request<{ readonly actions: ActionPage }>(ACTIONS, given)).actions;
  };
  const read = async (): Promise<Came<ListedAction>> => {
    const before = known.current;
    const lines: ListedAction[] = [];
    let after: string | null = null;
    let pages = 0;
    do {
      const { edges, pageInfo } = await readPage(after);
      const news = edges.map(({ node }) => node).filter(({ id }) => before?.has(id) !== true);
      lines.push(...news);
      pages += 1;
      // The first look shows one page: what was before is none of what happens.
      const isEnd = before === null || news.length < edges.length || !pageInfo.hasNextPage;
      after = isEnd ? null : pageInfo.endCursor;
    } while (after !== null && pages < PAGES_AT_ONCE);
    known.current = new Set([...lines.map(({ id }) => id), ...(before ?? [])].slice(0, KNOWN));
    return { lines, isCut: after !== null };
  };
  return (
    <>
      <Lines read={read}>{(action) => <ActionLine action={action} />}</Lines>
      <AsCode query={ACTIONS} variables={variables} />
    </>
  );
}

function EventTail(): ReactNode {
  const client = useClient();
  const cursor = useRef<string | null>(null);
  const read = async (): Promise<Came<HostEvent>> => {
    let found: readonly HostEvent[] = [];
    for (let page = 0; page < PAGES_AT_ONCE; page += 1) {
      const { hostEvents } = await client.request<EventPage>(EVENTS, { after: cursor.current });
      cursor.current = hostEvents.pageInfo.endCursor ?? cursor.current;
      found = [...found, ...hostEvents.edges.map(({ node }) => node)];
      if (!hostEvents.pageInfo.hasNextPage) break;
    }
    // What is left of the log comes with the next look.
    return { lines: [...found].reverse(), isCut: false };
  };
  return (
    <>
      <Lines read={read}>
        {({ type, at, data }) => (
          <>
            <strong translate="no">{type}</strong>
            <pre className="data">{JSON.stringify(data)}</pre>
            <p className="meta">
              <Time at={at} />
            </p>
          </>
        )}
      </Lines>
      <AsCode query={EVENTS} variables={{ after: null }} />
    </>
  );
}

interface LinesProps<Line> {
  readonly read: () => Promise<Came<Line>>;
  readonly children: (line: Line) => ReactNode;
}

/** Under the pointer, and while something inside has the focus, nothing moves. */
function Lines<Line extends { readonly id: string }>({ read, children }: LinesProps<Line>): ReactNode {
  const { shown, waitingCount, isPaused, isCut, error, isLoading, look, pause, resume } = useTail(
    read,
    EVERY_MS,
  );
  return (
    <>
      <p className="quiet tail-state" role="status">
        <span className="state" data-is={isPaused ? 'busy' : error === null ? 'good' : 'bad'} />
        {isPaused ? `Paused, ${shownNumber(waitingCount)} waiting` : error === null ? 'Live' : 'Not live'}
        {isPaused && (
          <button type="button" onClick={resume}>
            Go on
          </button>
        )}
      </p>
      {isCut && (
        <p className="quiet">
          More than {shownNumber(PAGES_AT_ONCE * 100)} came at once; the oldest of them are left out.
        </p>
      )}
      <States
        {...{ isLoading, error }}
        isEmpty={shown.length === 0}
        empty={
          <Teach icon={ScrollText} title="Nothing yet.">
            What is published, and what hosts are notified of, appears here as it happens; under the pointer
            nothing moves.
          </Teach>
        }
        onRetry={look}
      >
        <ul
          className="actions tail"
          onPointerEnter={pause}
          onPointerLeave={({ currentTarget }) => {
            if (!currentTarget.contains(document.activeElement)) resume();
          }}
          onFocus={pause}
          onBlur={({ currentTarget, relatedTarget }) => {
            if (!currentTarget.contains(relatedTarget) && !currentTarget.matches(':hover')) resume();
          }}
        >
          {shown.map((line) => (
            <li key={line.id}>
              <div>{children(line)}</div>
            </li>
          ))}
        </ul>
      </States>
    </>
  );
}
