import { useQuery } from '@fanfare/react';
import type { ReactNode } from 'react';
import { goTo, useRoute } from '../route.ts';
import { AsCode } from '../ui/as-code.tsx';
import { allPages } from '../ui/all-pages.ts';
import { counted } from '../ui/count.ts';
import { FailureGroups, type Failure } from '../ui/failures.tsx';
import { States } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';
import { useClient } from '../ui/use-client.ts';
import { useEvery } from '../ui/use-every.ts';

const DELIVERIES = `query Deliveries($state: WebhookState, $after: String) {
  webhookDeliveries(first: 100, after: $after, state: $state) { edges { node {
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
    readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  };
}

/** What receivers did not take, by the error. Before many are tried again it is shown which. */
export function WebhooksScreen(): ReactNode {
  const client = useClient();
  const { query } = useRoute();
  const state = STATES.find((one) => one === query.get('state')) ?? 'FAILED';
  const { data, error, isLoading, reload } = useQuery<Deliveries>(DELIVERIES, { state });
  useEvery(5_000, reload);
  const deliveries = data?.webhookDeliveries.edges.map(({ node }) => failureOf(node));
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
      </div>
      <h2>Deliveries</h2>
      <States {...{ isLoading, error }} isEmpty={false} empty="" onRetry={reload}>
        <FailureGroups
          failures={deliveries}
          isMore={data?.webhookDeliveries.pageInfo.hasNextPage === true}
          readAll={async () => {
            const read = async (after: string | null) =>
              (await client.request<Deliveries>(DELIVERIES, { state, after })).webhookDeliveries;
            return (await allPages(read)).map(failureOf);
          }}
          noun="deliveries"
          filter={`State ${state}`}
          retry={(id) => client.request(RETRY, { id })}
          onDone={reload}
        />
      </States>
      <AsCode query={DELIVERIES} variables={{ state }} />
    </>
  );
}

function failureOf({ id, url, type, attempts, error, nextAttemptAt, event }: Delivery): Failure {
  return {
    id,
    cause: error ?? 'waits for an earlier event',
    title: `${type} to ${url}`,
    shown: (
      <>
        <strong>{type}</strong> to {url}
        <p className="meta">
          {event !== null && <Time at={event.at} />}
          <span>{counted(attempts, 'attempt')}</span>
          {nextAttemptAt !== null && (
            <span>
              next <Time at={nextAttemptAt} />
            </span>
          )}
        </p>
      </>
    ),
  };
}
