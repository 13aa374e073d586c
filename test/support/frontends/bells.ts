import { QueryClient } from '@tanstack/query-core';
import * as relay from '../../../docs/examples/frontends/relay.ts';
import * as tanstack from '../../../docs/examples/frontends/tanstack-query.ts';
import * as tanstackBell from '../../../docs/examples/frontends/tanstack-notifications.ts';
import type { NotificationPage } from '../../../docs/examples/frontends/notifications.ts';
import { PACKAGES } from './packages.ts';
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

const openPackage =
  (openIn: (typeof PACKAGES)[number][1]) =>
  async (setting: Setting): Promise<Bell> => {
    const { fanfare, view, close } = openIn(setting);
    const [feed, list] = [fanfare.feed({ first: setting.first }), fanfare.notifications()];
    await Promise.all([feed.load(), list.load()]);
    const shown = view(list) as () => { readonly notifications: NotificationPage } | undefined;
    const stops = [feed.watch(), list.watch()];
    return {
      shown: () => shownOf(shown()?.notifications),
      markSeen: () => list.markSeen(),
      [Symbol.asyncDispose]() {
        for (const stop of stops) stop();
        close();
        return Promise.resolve();
      },
    };
  };

async function openRelay({ url, getToken, openSocket, first }: Setting): Promise<Bell> {
  const socket = openSocket();
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

async function openTanstackQuery({ url, getToken, openSocket, first }: Setting): Promise<Bell> {
  const socket = openSocket();
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
  ...PACKAGES.map(([name, open]) => [name, openPackage(open)] as const),
  ['Relay', openRelay],
  ['TanStack Query', openTanstackQuery],
];
