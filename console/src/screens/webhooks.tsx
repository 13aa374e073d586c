import '../later.css';
import { useQuery } from '@fanfare/react';
import { Webhook } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { hrefTo, useRoute } from '../route.ts';
import { AsCode } from '../ui/as-code.tsx';
import { allPages } from '../ui/all-pages.ts';
import { counted } from '../ui/count.ts';
import { FailureGroups, type Failure } from '../ui/failures.tsx';
import { States, Teach } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';
import { useClient } from '../ui/use-client.ts';
import { useEvery } from '../ui/use-every.ts';
import { wordFor } from '../ui/words.ts';

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

const RECEIVERS = 'query Receivers { webhookReceivers { url behind isSending seenAt } }';
const EXAMPLE = `WEBHOOKS='[{"url": "https://example.com/hook", "secrets": ["whsec_…"]},
  {"url": "redis://redis.example/events"}, {"url": "nats://nats.example/events"}]'`;
const TEST = 'mutation SendTestEvent { sendTestEvent }';

interface Receiver {
  readonly url: string;
  readonly behind: number;
  readonly isSending: boolean;
  readonly seenAt: string;
}

interface ReceiversProps {
  readonly data: { readonly webhookReceivers: readonly Receiver[] } | undefined;
  readonly error: Error | null;
  readonly onRetry: () => void;
  readonly onSent: () => void;
}

/** How far each receiver is, and a button that sends something to all of them. */
function Receivers({ data, error, onRetry, onSent }: ReceiversProps): ReactNode {
  const client = useClient();
  const [said, setSaid] = useState('');
  const receivers = data?.webhookReceivers ?? [];
  // What is known stays when it cannot be read again, so nothing below it jumps.
  if (error !== null && data === undefined)
    return (
      <States isLoading={false} {...{ error, onRetry }} isEmpty empty="">
        {null}
      </States>
    );
  if (receivers.length === 0) return null;
  const send = async (): Promise<void> => {
    try {
      await client.request(TEST);
      setSaid('A test event is on its way to all receivers. What is not taken is listed below.');
      onSent();
    } catch (error) {
      setSaid(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <section className="card">
      <h2>Receivers</h2>
      <ul className="plain">
        {receivers.map(({ url, behind, isSending, seenAt }) => (
          <li key={url}>
            <span className="state" data-is={!isSending ? 'bad' : behind > 0 ? 'busy' : 'good'}>
              {!isSending
                ? 'Nobody sends to it'
                : behind > 0
                  ? `${counted(behind, 'event')} behind`
                  : 'Up to date'}
            </span>{' '}
            <strong translate="no">{url}</strong>{' '}
            <span className="quiet">
              seen in the settings <Time at={seenAt} />
            </span>
          </li>
        ))}
      </ul>
      <p>
        <button type="button" onClick={() => void send()}>
          Send a test event
        </button>{' '}
        <span role="status" className="quiet">
          {said}
        </span>
      </p>
    </section>
  );
}

/** What receivers did not take, by the error. Before many are tried again it is shown which. */
export function WebhooksScreen(): ReactNode {
  const client = useClient();
  const { query } = useRoute();
  const state = STATES.find((one) => one === query.get('state')) ?? 'FAILED';
  const { data, error, isLoading, reload } = useQuery<Deliveries>(DELIVERIES, { state });
  useEvery(5_000, reload);
  const receivers = useQuery<NonNullable<ReceiversProps['data']>>(RECEIVERS);
  useEvery(2_000, receivers.reload);
  // They stand above the rest, which is not to be pushed down under a pointer or a finger.
  if (receivers.isLoading) return <div className="loading" role="status" aria-label="Loading" />;
  const deliveries = data?.webhookDeliveries.edges.map(({ node }) => failureOf(node));
  return (
    <>
      <Receivers data={receivers.data} error={receivers.error} onRetry={receivers.reload} onSent={reload} />
      <nav className="tabs" aria-label="State">
        {STATES.map((one) => (
          <a
            key={one}
            href={hrefTo('webhooks', '', { state: one })}
            aria-current={one === state ? 'true' : undefined}
          >
            {wordFor(one)}
          </a>
        ))}
      </nav>
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
          filter={wordFor(state)}
          empty={
            <Teach icon={Webhook} title="No receiver has refused anything." code={EXAMPLE}>
              What a receiver takes at the first attempt is not listed; what it does not take is tried again,
              and is listed here by its error. Receivers are addresses of HTTP, and streams of Redis and NATS.
              They are set where the server is started:
            </Teach>
          }
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
        <strong translate="no">{type}</strong> to <span translate="no">{url}</span>
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
