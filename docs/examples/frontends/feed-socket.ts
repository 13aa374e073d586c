import { createClient, type Client, type ClientOptions, type SubscribePayload } from 'graphql-ws';

/** A client of graphql-ws that delivers the events of a feed when they can be shown. */
export interface FeedSocket extends Client {
  /** Makes a request. Events wait for its response: each is then newer than the response or repeats part of it. */
  during<T>(request: () => Promise<T>): Promise<T>;
  /** As `during`, again and again until it succeeds: after a resync a list must not stay as it was. Ends when disposed. */
  insist(request: () => Promise<unknown>): Promise<void>;
  /**
   * From this call on, new and moved items wait.
   * @param placeOf the relevancy of an item as it is shown: what is there already, and stays there, does not wait
   */
  hold(placeOf?: PlaceOf): void;
  /** Delivers all that waits, and from this call on every event at once. */
  show(): void;
}

const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 30_000;

type PlaceOf = (itemId: string) => string | undefined;

interface Event {
  readonly __typename: string;
  readonly cursor: string;
  readonly item?: { readonly id: string; readonly relevancy: string };
  readonly itemId?: string;
}

/** @param onHeld is called with the number of items that wait for `show`, whenever it may have changed. */
export function createFeedSocket(
  options: ClientOptions,
  onHeld: (count: number) => void = () => undefined,
): FeedSocket {
  // Reconnects after a lost, rejected or replaced connection, as long as there is a subscription.
  const client = createClient({ retryAttempts: Infinity, shouldRetry: () => true, ...options });
  const { open, during, hold, show } = createGate(onHeld);
  let isDisposed = false;
  return {
    ...client,
    ...{ during, hold, show },
    async insist(request) {
      for (let waitMs = FIRST_WAIT_MS; !isDisposed; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS))
        try {
          await during(request);
          return;
        } catch {
          await new Promise((resolve) => setTimeout(resolve, waitMs));
        }
    },
    dispose() {
      isDisposed = true;
      return client.dispose();
    },
    subscribe(payload, sink) {
      // graphql-ws sends the same payload after a reconnect: it then asks for the events since the last one.
      const variables = { ...payload.variables };
      const resumable: SubscribePayload = { ...payload, variables };
      const pass = open();
      return client.subscribe(resumable, {
        ...sink,
        next(result) {
          // A subscription has one field, `feedEvents` or `notificationEvents`.
          const [event] = Object.values((result.data ?? {}) as Readonly<Record<string, Event>>);
          if (event !== undefined) variables['after'] = event.cursor;
          pass(event, () => sink.next(result as Parameters<typeof sink.next>[0]));
        },
      });
    },
  };
}

type Deliver = () => void;

function createGate(onHeld: (count: number) => void) {
  let requests = 0;
  /** Absent: nothing waits. */
  let places: PlaceOf | undefined;
  const waiting: Deliver[] = [];
  /** What waits for `show`, by item, for each subscription. */
  const lists = new Set<Map<string, Deliver>>();
  const flush = (): void => {
    while (requests === 0) {
      const deliver = waiting.shift();
      if (deliver === undefined) return;
      deliver();
    }
  };
  const report = (): void => onHeld([...lists].reduce((sum, held) => sum + held.size, 0));
  const open = () => {
    const held = new Map<string, Deliver>();
    lists.add(held);
    return (event: Event | undefined, deliver: Deliver): void => {
      const item = event?.item;
      const id = item?.id ?? event?.itemId;
      if (id !== undefined) held.delete(id);
      if (item !== undefined && places !== undefined && places(item.id) !== item.relevancy)
        held.set(item.id, deliver);
      else waiting.push(deliver);
      if (event?.__typename.endsWith('Resync') === true) held.clear();
      report();
      flush();
    };
  };
  const during = async <T>(request: () => Promise<T>): Promise<T> => {
    requests += 1;
    try {
      return await request();
    } finally {
      requests -= 1;
      flush();
    }
  };
  const hold = (placeOf: PlaceOf = () => undefined): void => {
    places = placeOf;
  };
  const show = (): void => {
    places = undefined;
    for (const held of lists) {
      waiting.push(...held.values());
      held.clear();
    }
    report();
    flush();
  };
  return { open, during, hold, show };
}
