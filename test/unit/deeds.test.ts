import { createFanfare as inApollo } from '@fanfare/apollo';
import {
  createFeedClient,
  type FeedClient,
  type FeedClientOptions,
  type InteractionKind,
} from '@fanfare/client';
import { createFanfare as inUrql } from '@fanfare/urql';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { FanfareItem } from '../../packages/react/src/item.ts';
import { commentsOf } from '../../packages/react/src/store/comments.ts';
import * as engaging from '../../packages/react/src/store/engaging.ts';
import { Reader } from '../../packages/react/src/store/reader.ts';
import { testItem } from '../../packages/react/src/testing.ts';
import { ACTION, createSlowServer, type SlowServer, type View } from '../support/frontends/slow-server.ts';
import { IS_DEEP, SEED } from '../support/seed.ts';
import { seededRandom } from '../support/seeded-random.ts';

// Four deeds within 60 ms, each of which takes 0 to 700 ms to the server and 0 to 700 ms back, or fails. The clock is not real.

const SEEDS = IS_DEEP ? 500 : 20;
/** Each with a server and a client of its own. */
const AT_ONCE = 20;
const ALL_MS = 4 * 2 * 700 + 100;

interface Screen {
  shown(): View;
  like(): Promise<unknown>;
  unlike(): Promise<unknown>;
  bookmark(): Promise<unknown>;
  unbookmark(): Promise<unknown>;
  comment(text: string): Promise<unknown>;
}

interface Opened {
  readonly server: SlowServer;
  readonly screen: Screen;
  /** Whether it shows anything on its own. */
  readonly isShown: boolean;
}

type Options = Pick<FeedClientOptions, 'url' | 'token'>;

function openCache(create: typeof inApollo | typeof inUrql, options: Options): Screen {
  const fanfare = create({ ...options, fields: { action: 'isHidden' } });
  const lists = {
    feed: fanfare.feed(),
    bookmarks: fanfare.list('bookmarks'),
    comments: fanfare.list('comments', { actionId: ACTION }),
  };
  for (const list of Object.values(lists)) void list.load();
  return {
    like: () => fanfare.like(ACTION),
    unlike: () => fanfare.unlike(ACTION),
    bookmark: () => fanfare.bookmark(ACTION),
    unbookmark: () => fanfare.unbookmark(ACTION),
    comment: (text) => fanfare.comment(ACTION, text),
    shown() {
      const action = lists.feed.read()?.edges[0]?.node.action;
      return {
        likes: action?.engagement.likes ?? -1,
        comments: action?.engagement.comments ?? -1,
        hasLiked: action?.viewer.hasLiked ?? false,
        isBookmarked: action?.viewer.isBookmarked ?? false,
        bookmarks: lists.bookmarks.read()?.edges.length ?? -1,
        texts: lists.comments.read()?.edges.map(({ node }) => node.text ?? '') ?? [],
      };
    },
  };
}

function openReact(options: Options, server: SlowServer): Screen {
  const client = createFeedClient(options) as unknown as FeedClient<FanfareItem>;
  const { action } = testItem('one', '2026-01-01T00:00:00.000Z');
  const reader = new Reader({ client });
  const { hasLiked, isBookmarked, likes } = server.view();
  reader.actions.confirm({
    ...{ ...action, id: ACTION, commentsVersion: 0 },
    engagement: { ...action.engagement, likes, comments: 0 },
    viewer: { ...action.viewer, hasLiked, isBookmarked },
  });
  const comments = commentsOf(reader, ACTION);
  comments.use(() => undefined);
  const interact = (kind: InteractionKind, isGiven: boolean) =>
    engaging.interact(reader, ACTION, kind, isGiven);
  return {
    like: () => interact('LIKE', true),
    unlike: () => interact('LIKE', false),
    bookmark: () => engaging.bookmark(reader, ACTION, true),
    unbookmark: () => engaging.bookmark(reader, ACTION, false),
    comment: (text) => comments.send(text),
    shown() {
      const now = reader.actions.get(ACTION);
      return {
        likes: now?.engagement.likes ?? -1,
        comments: now?.engagement.comments ?? -1,
        hasLiked: now?.viewer.hasLiked ?? false,
        isBookmarked: now?.viewer.isBookmarked ?? false,
        bookmarks: Number(now?.viewer.isBookmarked ?? false),
        texts: comments.getSnapshot().comments.map(({ text }) => text ?? ''),
      };
    },
  };
}

/** Shows nothing on its own. */
function openClient(options: Options, server: SlowServer): Screen {
  const { addInteraction, removeInteraction, bookmark, unbookmark } = createFeedClient(options).mutations;
  const own = { actionId: ACTION, kind: 'LIKE' } as const;
  return {
    like: () => addInteraction({ input: own }),
    unlike: () => removeInteraction({ input: { own } }),
    bookmark: () => bookmark({ actionId: ACTION }),
    unbookmark: () => unbookmark({ actionId: ACTION }),
    comment: (text) => addInteraction({ input: { actionId: ACTION, kind: 'COMMENT', text } }),
    shown: () => server.view(),
  };
}

const WAYS = [
  ['the client', openClient, false],
  ['React', openReact, true],
  ['Apollo Client', (options: Options) => openCache(inApollo, options), true],
  ['urql', (options: Options) => openCache(inUrql, options), true],
] as const;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const DEEDS = ['like', 'unlike', 'bookmark', 'unbookmark', 'comment'] as const;
type Deed = (typeof DEEDS)[number];

/** What the screen has to show as long as the deed has not failed. */
const CHOICES: Partial<Record<Deed, Partial<View>>> = {
  like: { hasLiked: true },
  unlike: { hasLiked: false },
  bookmark: { isBookmarked: true, bookmarks: 1 },
  unbookmark: { isBookmarked: false, bookmarks: 0 },
};

interface Play {
  /** What is due by now. */
  act(ms: number): void;
  check(): void;
  end(): void;
}

function playOf(seed: number, { server, screen, isShown }: Opened): Play {
  const random = seededRandom(seed);
  const times = Array.from({ length: 4 }, () => random.below(60)).sort((a, b) => a - b);
  const done: string[] = [];
  let settled = 0;
  /** The last choice of each kind; none after it has failed: then it is what the server has. */
  const choices = new Map<string, Partial<View> | undefined>();
  const story = (): string => `seed ${String(seed)}: ${done.join()}`;
  const act = (): void => {
    const deed = random.pick(DEEDS);
    done.push(deed);
    const [of, choice] = [deed.replace('un', ''), CHOICES[deed]];
    choices.set(of, choice);
    (deed === 'comment' ? screen.comment(`text ${String(done.length % 2)}`) : screen[deed]()).then(
      () => {
        settled += 1;
      },
      () => {
        settled += 1;
        if (choices.get(of) === choice) choices.set(of, undefined);
      },
    );
  };
  const check = (): void => {
    if (!isShown || settled === 4) return;
    const shown = screen.shown();
    for (const choice of choices.values()) expect(shown, story()).toMatchObject(choice ?? {});
  };
  return {
    act(ms) {
      while ((times[0] ?? Infinity) <= ms) {
        times.shift();
        act();
      }
    },
    check,
    end() {
      expect(settled, story()).toBe(4);
      expect(server.changes(), story()).toBeLessThanOrEqual(4);
      expect(screen.shown(), story()).toEqual(server.view());
      for (const choice of choices.values()) expect(server.view(), story()).toMatchObject(choice ?? {});
    },
  };
}

test.each(WAYS)(
  '%s: the last choice wins, is shown meanwhile, and every deed settles',
  async (_name, open, isShown) => {
    const servers = new Map<string, SlowServer>();
    vi.stubGlobal('fetch', (url: string, init: RequestInit) => servers.get(url)?.fetch(url, init));
    for (let first = SEED; first < SEED + SEEDS; first += AT_ONCE) {
      const plays: Play[] = [];
      for (let seed = first; seed < first + AT_ONCE; seed += 1) {
        const url = `http://server-${String(seed)}/graphql`;
        const server = createSlowServer(seededRandom(-seed));
        servers.set(url, server);
        const screen = open({ url, token: 'of-ann' }, server);
        await vi.runAllTimersAsync();
        server.begin();
        plays.push(playOf(seed, { server, screen, isShown }));
      }
      for (let ms = 0; ms <= ALL_MS; ms += ms < 60 ? 20 : 100) {
        for (const play of plays) play.act(ms);
        await vi.advanceTimersByTimeAsync(ms < 60 ? 20 : 100);
        for (const play of plays) play.check();
      }
      for (const play of plays) play.end();
      servers.clear();
    }
  },
);
