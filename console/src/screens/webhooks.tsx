import { Time, useQuery } from '@fanfare/react';
import { useState, type ReactNode } from 'react';
import { goTo, useRoute } from '../route.ts';
import { AsCode } from '../ui/as-code.tsx';
import { ConfirmDialog } from '../ui/confirm.tsx';
import { States } from '../ui/states.tsx';
import { useClient } from '../ui/use-client.ts';
import { useEvery } from '../ui/use-every.ts';

const DELIVERIES = `query Deliveries($state: WebhookState) {
  webhookDeliveries(first: 100, state: $state) { edges { node {
    id url type attempts error nextAttemptAt state event { at data } } }
    pageInfo { hasNextPage endCursor } } }`;
const RETRY = 'mutation RetryWebhook($id: ID!) { retryWebhook(id: $id) { id } }';
const STATES = ['FAILED', 'RETRYING'] as const;

interface Delivery {
  readonly id: string;
  readonly url: string;
  readonly type: string;
  readonly attempts: number;
  readonly error: string | null;
  readonly nextAttemptAt: string | null;
  readonly state: string;
  readonly event: { readonly at: string; readonly data: unknown } | null;
}

interface Deliveries {
  readonly webhookDeliveries: {
    readonly edges: readonly { readonly node: Delivery }[];
    readonly pageInfo: { readonly hasNextPage: boolean };
  };
}

/** What receivers did not take, by the error. Before many are tried again it is shown which. */
export function WebhooksScreen(): ReactNode {
  const client = useClient();
  const { query } = useRoute();
  const state = STATES.find((one) => one === query.get('state')) ?? 'FAILED';
  const { data, error, isLoading, reload } = useQuery<Deliveries>(DELIVERIES, { state });
  const [asked, setAsked] = useState<readonly Delivery[]>([]);
  const [said, setSaid] = useState('');
  useEvery(5_000, reload);
  const deliveries = data?.webhookDeliveries.edges.map(({ node }) => node) ?? [];
  const groups = new Map<string, Delivery[]>();
  for (const delivery of deliveries) {
    const cause = delivery.error ?? 'waits for an earlier event';
    groups.set(cause, [...(groups.get(cause) ?? []), delivery]);
  }
  const retry = async (chosen: readonly Delivery[]): Promise<void> => {
    setAsked([]);
    let done = 0;
    for (const { id } of chosen) {
      try {
        await client.request(RETRY, { id });
        done += 1;
      } catch (reason) {
        setSaid(reason instanceof Error ? reason.message : String(reason));
      }
    }
    if (done === chosen.length) setSaid(`${String(done)} tried again`);
    reload();
  };
  const isMore = data?.webhookDeliveries.pageInfo.hasNextPage === true;
  return (
    <>
      <h1>Webhooks</h1>
      <div className="filters">
        <label>
          State
          <select value={state} onChange={(event) => goTo('webhooks', '', { state: event.target.value })}>
            {STATES.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <button type="button" disabled={deliveries.length === 0} onClick={() => setAsked(deliveries)}>
          Retry all …
        </button>
        <span className="quiet">
          {deliveries.length}
          {isMore ? '+' : ''} shown
        </span>
        <span role="status">{said}</span>
      </div>
      <States {...{ isLoading, error }} isEmpty={deliveries.length === 0} empty="None." onRetry={reload}>
        {[...groups].map(([cause, group]) => (
          <section key={cause} className="card">
            <h2>{cause}</h2>
            <p className="buttons">
              <span className="quiet">{group.length} deliveries</span>
              <button type="button" onClick={() => setAsked(group)}>
                Retry these …
              </button>
            </p>
            <ul className="actions">
              {group.map((delivery) => (
                <li key={delivery.id}>
                  <div>
                    <strong>{delivery.type}</strong> to {delivery.url}
                    <p className="meta">
                      {delivery.event !== null && <Time at={delivery.event.at} />}
                      <span>{delivery.attempts} attempts</span>
                      {delivery.nextAttemptAt !== null && (
                        <span>
                          next <Time at={delivery.nextAttemptAt} />
                        </span>
                      )}
                      <button type="button" onClick={() => void retry([delivery])}>
                        Retry
                      </button>
                    </p>
                  </div>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </States>
      <ConfirmDialog
        isOpen={asked.length > 0}
        title={`Retry ${String(asked.length)} deliveries?`}
        confirm="Retry"
        onConfirm={() => void retry(asked)}
        onClose={() => setAsked([])}
      >
        <p>
          State {state}
          {new Set(asked.map(({ error: cause }) => cause)).size === 1 ? `, ${asked[0]?.error ?? ''}` : ''}.
          The first five:
        </p>
        <ul>
          {asked.slice(0, 5).map(({ id, type, url }) => (
            <li key={id}>
              {type} to {url}
            </li>
          ))}
        </ul>
      </ConfirmDialog>
      <AsCode query={DELIVERIES} variables={{ state }} />
    </>
  );
}
