import '../later.css';
import { useQuery } from '@fanfare/react';
import { useLanguage } from '@fanfare/react/more';
import { Eye, EyeOff, ShieldAlert, Trash2 } from 'lucide-react';
import { useEffect, useState, type ReactNode } from 'react';
import { goTo, hrefTo, useRoute } from '../route.ts';
import type { Session } from '../session.ts';
import { ActionList, LISTED, type ActionPage, type ListedAction } from '../ui/action-list.tsx';
import { AsCode } from '../ui/as-code.tsx';
import { ConfirmDialog } from '../ui/confirm.tsx';
import { isPerson } from '../ui/directory.ts';
import { Picker } from '../ui/picker.tsx';
import { PRESETS, ReasonPresets } from '../ui/reason-presets.tsx';
import { letterOf, useRowKeys } from '../ui/row-keys.ts';
import { States, Teach } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';
import { useClient } from '../ui/use-client.ts';
import { titled } from '../ui/words.ts';
import { ReportsScreen } from './reports.tsx';

const ACTIONS = `query Moderate($after: String, $filter: ActionFilter) {
  actions(first: 30, after: $after, includeHidden: true, filter: $filter) { edges { node { ${LISTED} } } pageInfo { hasNextPage endCursor } }
}`;
const LOG = `query ModerationLog { moderationLog(first: 20) { edges { node { actionId at by kind reason } } } }`;
const HIDE = 'mutation Hide($id: ID!, $reason: String) { hideAction(id: $id, reason: $reason) { id } }';
const SHOW = 'mutation Unhide($id: ID!) { unhideAction(id: $id) { id } }';

interface Log {
  readonly moderationLog: {
    readonly edges: readonly {
      readonly node: {
        readonly actionId: string;
        readonly at: string;
        readonly by: string;
        readonly kind: string;
        readonly reason: string | null;
      };
    }[];
  };
}

const FILTERS = [
  ['type', 'types', 'Type', 'Posted'],
  ['actor', 'actorIds', 'By', 'Name or id'],
  ['tag', 'tags', 'Tag', ''],
] as const;

function filterOf(query: URLSearchParams): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(
    FILTERS.flatMap(([name, field]) => {
      const value = query.get(name) ?? '';
      return value === '' ? [] : [[field, [value]]];
    }),
  );
}

/** Which actions; in the address, so that it can be sent to somebody. */
function Filters(): ReactNode {
  const { query } = useRoute();
  return (
    <form
      key={String(query)}
      className="filters"
      aria-label="Which actions"
      onSubmit={(event) => {
        event.preventDefault();
        const given = new FormData(event.currentTarget);
        goTo(
          'moderation',
          '',
          Object.fromEntries(FILTERS.map(([name]) => [name, (given.get(name) as string).trim()])),
        );
      }}
    >
      {FILTERS.map(([name, , label, placeholder]) =>
        name === 'actor' ? (
          <Picker
            key={name}
            {...{ name, label, placeholder }}
            kind={isPerson}
            defaultValue={query.get(name) ?? ''}
          />
        ) : (
          <label key={name}>
            {label}
            <input {...{ name, placeholder }} size={10} defaultValue={query.get(name) ?? ''} />
          </label>
        ),
      )}
      <button type="submit">Show</button>
    </form>
  );
}

const SIDES = [
  ['', 'Content'],
  ['reports', 'Reports'],
] as const;

/** What was published, and what members have reported of it. Moderators are shown the reports. */
export function ModerationScreen({
  id,
  session,
}: {
  readonly id: string;
  readonly session: Session;
}): ReactNode {
  const isAdmin = session.roles.includes('admin');
  if (!isAdmin) return <ReportsScreen />;
  return (
    <>
      <nav className="tabs" aria-label="What to moderate">
        {SIDES.map(([side, title]) => (
          <a key={side} href={hrefTo('moderation', side)} aria-current={side === id ? 'page' : undefined}>
            {title}
          </a>
        ))}
      </nav>
      {id === 'reports' ? <ReportsScreen /> : <Content />}
    </>
  );
}

/** Hides at once, several together, with an undo; what cannot be undone is asked for first. */
function Content(): ReactNode {
  const client = useClient();
  const [selected, setSelected] = useState<ReadonlyMap<string, ListedAction>>(new Map());
  const [reason, setReason] = useState('');
  const [undo, setUndo] = useState<readonly string[]>([]);
  const language = useLanguage();
  const [toDelete, setToDelete] = useState<readonly ListedAction[]>([]);
  const [failure, setFailure] = useState<string | null>(null);
  const [round, setRound] = useState(0);
  const filter = filterOf(useRoute().query);
  /** What is done with the selection ends it. Buttons that were disabled then would lose the focus. */
  const isNone = selected.size === 0;
  const toggle = (action: ListedAction): void => {
    setSelected((all) => {
      const next = new Map(all);
      if (!next.delete(action.id)) next.set(action.id, action);
      return next;
    });
  };
  /** One after the other: what fails is said and stays selected if it may work later, and the rest is done. */
  const each = async (
    ids: readonly string[],
    change: (id: string) => Promise<unknown>,
  ): Promise<string[]> => {
    setFailure(null);
    const done: string[] = [];
    const failed = new Set<string>();
    for (const id of ids) {
      try {
        await change(id);
        done.push(id);
      } catch (error) {
        setFailure(error instanceof Error ? error.message : String(error));
        if (mayWorkLater(error)) failed.add(id);
      }
    }
    setSelected((all) => new Map([...all].filter(([id]) => failed.has(id))));
    setRound((last) => last + 1);
    return done;
  };
  useRowKeys('.actions > li');
  const hide = async (ids: readonly string[]): Promise<void> => {
    const given = reason.trim();
    const of = given === '' ? {} : { reason: given };
    setUndo(await each(ids, (id) => client.request(HIDE, { id, ...of })));
  };
  /** Of the row that has the focus, unless others are selected. */
  const press = (letter: string, action: ListedAction): void => {
    const meant = isNone ? [action] : [...selected.values()];
    if (letter === 'h') void hide(meant.map(({ id }) => id));
    if (letter === 'd') setToDelete(meant);
  };
  const show = (ids: readonly string[]): Promise<string[]> => each(ids, (id) => client.request(SHOW, { id }));
  const remove = async (): Promise<void> => {
    const ids = toDelete.map(({ id }) => id);
    setToDelete([]);
    await each(ids, (id) => client.mutations.deleteAction({ id }));
  };
  return (
    <>
      <Filters />
      <div className="filters" role="group" aria-label="With what is selected">
        <label>
          Reason
          <input
            list={PRESETS}
            value={reason}
            maxLength={500}
            onChange={(event) => setReason(event.target.value)}
          />
        </label>
        <button
          type="button"
          aria-disabled={isNone}
          onClick={() => void (isNone || hide([...selected.keys()]))}
        >
          <EyeOff aria-hidden="true" />
          {isNone ? 'Hide' : `Hide ${String(selected.size)}`}
        </button>
        <button
          type="button"
          aria-disabled={isNone}
          onClick={() => void (isNone || show([...selected.keys()]))}
        >
          <Eye aria-hidden="true" /> Show again
        </button>
        <button
          type="button"
          className="danger"
          aria-disabled={isNone}
          onClick={() => setToDelete([...selected.values()])}
        >
          <Trash2 aria-hidden="true" /> Delete …
        </button>
        <ReasonPresets />
        <span className="hint">J and K go on and back, H hides, D deletes.</span>
      </div>
      <div role="status" data-fanfare="undo">
        {undo.length > 0 && (
          <>
            <span>{undo.length} hidden</span>
            <button type="button" onClick={() => void show(undo).then(() => setUndo([]))}>
              Undo
            </button>
            <button type="button" onClick={() => setUndo([])}>
              Close
            </button>
          </>
        )}
      </div>
      {failure !== null && (
        <p role="alert" className="alert">
          {failure}
        </p>
      )}
      <ActionList
        query={ACTIONS}
        variables={{ filter }}
        round={round}
        pick={(data) => (data as { readonly actions?: ActionPage }).actions}
        empty={
          Object.keys(filter).length > 0 ? (
            'Nothing is like that.'
          ) : (
            <Teach icon={ShieldAlert} title="Nothing was published yet." code={HIDE}>
              What was published is listed here, the latest first. Hidden, nobody but administrators sees it,
              at once, and it can be shown again.
            </Teach>
          )
        }
        before={(action) => (
          <input
            type="checkbox"
            aria-label={`Select: ${action.descriptor.summary}`}
            checked={selected.has(action.id)}
            onChange={() => toggle(action)}
            onKeyDown={(event) => event.repeat || press(letterOf(event), action)}
          />
        )}
      />
      <LogOfModeration round={round} />
      <ConfirmDialog
        isOpen={toDelete.length > 0}
        title={`Delete ${String(toDelete.length)} for good?`}
        confirm="Delete"
        isDangerous
        onConfirm={() => void remove()}
        onClose={() => setToDelete([])}
      >
        <ul>
          {toDelete.slice(0, 5).map(({ id, descriptor }) => (
            <li key={id} lang={language} dir="auto">
              {descriptor.summary}
            </li>
          ))}
        </ul>
        {toDelete.length > 5 && <p>and {toDelete.length - 5} more.</p>}
      </ConfirmDialog>
      <AsCode query={HIDE} variables={{ id: [...selected.keys()][0] ?? '', reason }} />
    </>
  );
}

function mayWorkLater(error: unknown): boolean {
  return error instanceof Error && 'isTemporary' in error && error.isTemporary === true;
}

function LogOfModeration({ round }: { readonly round: number }): ReactNode {
  const { data, error, isLoading, reload } = useQuery<Log>(LOG);
  useEffect(() => {
    if (round > 0) reload();
  }, [round, reload]);
  const entries = data?.moderationLog.edges ?? [];
  return (
    <section className="card">
      <h2>Log</h2>
      <States
        {...{ isLoading, error }}
        isEmpty={entries.length === 0}
        empty="Nothing was moderated."
        onRetry={reload}
      >
        <ul className="plain">
          {entries.map(({ node }, at) => (
            <li key={at}>
              <a href={hrefTo('action', node.actionId)}>{titled(node.kind)}</a> by <bdi>{node.by}</bdi>{' '}
              <Time at={node.at} />{' '}
              <span className="quiet" dir="auto">
                {node.reason}
              </span>
            </li>
          ))}
        </ul>
      </States>
    </section>
  );
}
