import { useQuery } from '@fanfare/react';
import { useState, type ReactNode } from 'react';
import { hrefTo } from '../route.ts';
import { ConfirmDialog } from './confirm.tsx';
import { States } from './states.tsx';
import { useClient } from './use-client.ts';
import { useEvery } from './use-every.ts';
import { momentIn, useZone } from '../zone.ts';

const SCHEDULED = `query Scheduled { scheduledActions(first: 25) {
  edges { node { id publishAt actor { memberId name } descriptor { summary } } } pageInfo { hasNextPage } } }`;
const MOVE = `mutation Move($id: ID!, $publishAt: DateTime!) {
  updateAction(id: $id, input: { publishAt: $publishAt }) { id publishAt } }`;
const CANCEL = 'mutation Cancel($id: ID!) { deleteAction(id: $id) { id } }';
const EVERY_MS = 10_000;

interface Due {
  readonly id: string;
  readonly publishAt: string | null;
  readonly actor: { readonly name: string };
  readonly descriptor: { readonly summary: string };
}
interface Data {
  readonly scheduledActions: {
    readonly edges: readonly { readonly node: Due }[];
    readonly pageInfo: { readonly hasNextPage: boolean };
  };
}

/** What is not published yet, the next first: one's own, for administrators that of everybody. */
export function Scheduled(): ReactNode {
  const client = useClient();
  const { data, error, isLoading, reload } = useQuery<Data>(SCHEDULED);
  const [failure, setFailure] = useState('');
  const [cancelled, setCancelled] = useState<Due | null>(null);
  useEvery(EVERY_MS, reload);
  const change = async (mutation: string, variables: object): Promise<void> => {
    try {
      await client.request(mutation, { ...variables });
      setFailure('');
    } catch (reason) {
      setFailure(reason instanceof Error ? reason.message : String(reason));
    }
    reload();
  };
  const all = data?.scheduledActions.edges.map(({ node }) => node) ?? [];
  if (all.length === 0 && error === null) return null;
  return (
    <section className="card">
      <h2>Scheduled</h2>
      {failure !== '' && (
        <p role="alert" className="alert">
          {failure}
        </p>
      )}
      <States {...{ isLoading, error }} isEmpty={false} empty="" onRetry={reload}>
        <ul className="plain" aria-label="Scheduled">
          {all.map((due) => (
            <Item
              key={due.id}
              due={due}
              onMove={(publishAt) => void change(MOVE, { id: due.id, publishAt })}
              onCancel={() => setCancelled(due)}
            />
          ))}
        </ul>
        {data?.scheduledActions.pageInfo.hasNextPage === true && <p className="quiet">and more.</p>}
      </States>
      <ConfirmDialog
        isOpen={cancelled !== null}
        title="Cancel this publication?"
        confirm="Cancel it"
        isDangerous
        onConfirm={() => {
          if (cancelled !== null) void change(CANCEL, { id: cancelled.id });
          setCancelled(null);
        }}
        onClose={() => setCancelled(null)}
      >
        <p dir="auto">{cancelled?.descriptor.summary}</p>
      </ConfirmDialog>
    </section>
  );
}

interface ItemProps {
  readonly due: Due;
  readonly onMove: (publishAt: string) => void;
  readonly onCancel: () => void;
}

function Item({ due, onMove, onCancel }: ItemProps): ReactNode {
  const { id, publishAt, descriptor } = due;
  const zone = useZone();
  /** Null while it is not being moved. */
  const [moved, setMoved] = useState<string | null>(null);
  return (
    <li>
      <a href={hrefTo('action', id)} dir="auto">
        {descriptor.summary}
      </a>{' '}
      {publishAt !== null && <time dateTime={publishAt}>{momentIn(zone, publishAt)}</time>}
      <form
        className="buttons"
        onSubmit={(event) => {
          event.preventDefault();
          if (moved !== null && moved !== '') onMove(new Date(moved).toISOString());
          setMoved(null);
        }}
      >
        {moved === null ? (
          <button type="button" onClick={() => setMoved('')}>
            Move
          </button>
        ) : (
          <>
            <input
              type="datetime-local"
              aria-label="Publish it at"
              required
              value={moved}
              onChange={(event) => setMoved(event.target.value)}
            />
            <button type="submit">Move</button>
          </>
        )}
        <button type="button" className="danger" onClick={onCancel}>
          Cancel …
        </button>
      </form>
    </li>
  );
}
