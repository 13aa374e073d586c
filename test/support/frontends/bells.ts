import { QueryClient } from '@tanstack/query-core';
import * as apollo from '../../../docs/examples/frontends/apollo.ts';
import * as apolloBell from '../../../docs/examples/frontends/apollo-notifications.ts';
import * as relay from '../../../docs/examples/frontends/relay.ts';
import * as tanstack from '../../../docs/examples/frontends/tanstack-query.ts';
import * as tanstackBell from '../../../docs/examples/frontends/tanstack-notifications.ts';
import * as urql from '../../../docs/examples/frontends/urql.ts';
import * as urqlBell from '../../../docs/examples/frontends/urql-notifications.ts';
import { BELL, type NotificationPage } from '../../../docs/examples/frontends/notifications.ts';
import type { Setting } from './screen.ts';

/** A bell as a frontend shows it, with the feed beside it. Disposing leaves the page. */
export interface Bell extends AsyncDisposable {
  /** Sentences, from the top, and the number. */
  shown(): readonly [readonly string[], number | undefined];
  markSeen(): Promise<void>;
}

type Shown = { readonly unseen: Pick<NotificationPage['unseen'], 'count'> } & {
  readonly edges: readonly { readonly node: { readonly summary: string } }[];
};
const shownOf = (page: Shown | undefined): ReturnType<Bell['shown']> => [
  (page?.edges ?? []).map(({ node }) => node.summary),
  page?.unseen.count,
];

async function openApollo({ url, getToken, socket, first }: Setting): Promise<Bell> {
  const client = apollo.createFeedClient(url, getToken, socket);
  await apollo.readFirstPage(client, socket, { first });
  await apolloBell.readNotifications(client, socket);
  const lives = [apollo.watchFeed(client, socket, { first }), apolloBell.watchNotifications(client, socket)];
  return {
    shown: () =>
      shownOf(client.readQuery({ query: apolloBell.NOTIFICATIONS, variables: BELL })?.notifications),
    markSeen: () => apolloBell.markSeen(client),
    async [Symbol.asyncDispose]() {
      for (const live of lives) live.unsubscribe();
      client.stop();
      await socket.dispose();
    },
  };
}

async function openUrql({ url, getToken, socket, first }: Setting): Promise<Bell> {
  const client = urql.createFeedClient(url, getToken, socket);
  await urql.readFirstPage(client, socket, { first });
  let page: NotificationPage | undefined;
  await urqlBell.readNotifications(client, socket);
  const lives = [
    client.query(urqlBell.NOTIFICATIONS, BELL).subscribe(({ data }) => {
      page = data?.notifications;
    }),
    urql.watchFeed(client, socket, { first }),
    urqlBell.watchNotifications(client, socket),
  ];
  return {
    shown: () => shownOf(page),
    markSeen: () => urqlBell.markSeen(client),
    async [Symbol.asyncDispose]() {
      for (const live of lives) live.unsubscribe();
      await socket.dispose();
    },
  };
}

async function openRelay({ url, getToken, socket, first }: Setting): Promise<Bell> {
  const environment = relay.createEnvironment(url, getToken, socket);
  await relay.readFirstPage(environment, socket, { first });
  await relay.readNotifications(environment, socket);
  const lives = [
    relay.retainFeed(environment, { first }),
    relay.watchFeed(environment, socket, { first }),
    relay.watchNotifications(environment, socket),
  ];
  return {
    shown: () => shownOf(relay.notificationsIn(environment)),
    markSeen: () => relay.markSeen(environment, socket),
    async [Symbol.asyncDispose]() {
      for (const live of lives) live.dispose();
      await socket.dispose();
    },
  };
}

async function openTanstackQuery({ url, getToken, socket, first }: Setting): Promise<Bell> {
  const client = new QueryClient();
  const request = tanstack.createRequest(url, getToken);
  const options = tanstackBell.notificationOptions(request);
  await socket.during(() => client.infiniteQuery(tanstack.feedOptions(request, { first })));
  await socket.during(() => client.query(options));
  const fail = (error: unknown): never => {
    throw error;
  };
  const stops = [
    tanstack.watchFeed(client, socket, { first }, fail),
    tanstackBell.watchNotifications(client, socket, fail),
  ];
  return {
    shown: () => shownOf(client.getQueryData<NotificationPage>(options.queryKey)),
    markSeen: () => tanstackBell.markSeen(client, request),
    async [Symbol.asyncDispose]() {
      for (const stop of stops) stop();
      client.clear();
      await socket.dispose();
    },
  };
}

export const BELLS: readonly (readonly [name: string, open: (setting: Setting) => Promise<Bell>])[] = [
  ['Apollo Client', openApollo],
  ['urql', openUrql],
  ['Relay', openRelay],
  ['TanStack Query', openTanstackQuery],
];
