import { readFileSync } from 'node:fs';
import { buildSchema, execute, GraphQLError, parse, type DocumentNode } from 'graphql';
import type { SeededRandom } from '../seeded-random.ts';

/** The one action there is. */
export const ACTION = btoa('Action:650000000000000000000001');

/** What a screen shows of it. */
export interface View {
  readonly likes: number;
  readonly comments: number;
  readonly hasLiked: boolean;
  readonly isBookmarked: boolean;
  /** How many the list of bookmarks has. */
  readonly bookmarks: number;
  /** Of the comments, the newest first. */
  readonly texts: readonly string[];
}

export interface SlowServer {
  readonly fetch: typeof fetch;
  /** From here on requests take their time, or fail. */
  begin(): void;
  /** How many mutations were sent. */
  changes(): number;
  view(): View;
}

const SCHEMA = buildSchema(readFileSync(new URL('../../../schema/schema.graphql', import.meta.url), 'utf8'));
const documents = new Map<string, DocumentNode>();
const LONGEST_MS = 700;
const OTHERS = 3;

function documentOf(source: string): DocumentNode {
  const document = documents.get(source) ?? parse(source);
  documents.set(source, document);
  return document;
}

interface Input {
  readonly input: {
    readonly kind?: string;
    readonly text?: string;
    readonly own?: object;
    readonly id?: string;
    readonly idempotencyKey?: string;
  };
}

/** One action of somebody else and one reader, by the schema of the API. A request is on its way for up to 0.7 s in each direction. */
export function createSlowServer(random: SeededRandom, id = ACTION, reader?: string): SlowServer {
  const mine = { hasLiked: false, isBookmarked: false };
  let comments: { readonly id: string; readonly text: string; readonly at: string }[] = [];
  let count = 0;
  let isSlow = false;
  let changes = 0;
  const pageInfo = { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null };
  const connection = (nodes: readonly { readonly id: string }[]) => ({
    edges: nodes.map((node) => ({ cursor: node.id, node })),
    pageInfo,
    liveCursor: 'live',
  });
  const interaction = (comment: (typeof comments)[number]) => ({
    ...{ __typename: 'Interaction', kind: 'COMMENT', state: 'VISIBLE', editedAt: null, reaction: null },
    ...{ parentId: null, actor: { memberId: 'ann', name: 'Ann' }, action, ...comment },
  });
  const action = {
    ...{ __typename: 'Action', id, conducted: '2026-01-01T00:00:00.000Z', isHidden: false },
    commentsVersion: () => count,
    engagement: () => ({
      ...{ likes: OTHERS + Number(mine.hasLiked), comments: comments.length },
      ...{ reshares: 0, reactions: [], lastInteraction: null },
    }),
    viewer: () => ({
      ...{ hasCommented: comments.length > 0, hasReshared: false, reactions: [], commentsInReview: [] },
      ...{ canDelete: false, canEdit: false, ...mine },
    }),
    interactions: () => connection(comments.map(interaction)),
  };
  const like = (isGiven: boolean): object => {
    if (!isGiven && !mine.hasLiked) throw new GraphQLError('There is no such interaction');
    mine.hasLiked = isGiven;
    return {
      isReplay: false,
      interaction: interaction({ id: 'like', text: '', at: action.conducted }),
      action,
    };
  };
  const root = {
    feed: () =>
      connection([
        {
          ...{ __typename: 'NewsfeedItem', relevancy: action.conducted, isUnread: false },
          id: 'item',
          action,
        } as never,
      ]),
    viewer: { bookmarks: () => connection(mine.isBookmarked ? [action] : []) },
    action: () => action,
    node: () => action,
    addInteraction({ input: { kind, text = '' } }: Input) {
      if (kind === 'LIKE') return like(true);
      const comment = { id: btoa(`Interaction:${String((count += 1))}`), text, at: new Date().toISOString() };
      comments = [comment, ...comments];
      return { isReplay: false, interaction: interaction(comment), action };
    },
    removeInteraction: () => like(false),
    bookmark() {
      mine.isBookmarked = true;
      return action;
    },
    unbookmark() {
      mine.isBookmarked = false;
      return action;
    },
  };
  const way = (): Promise<void> =>
    new Promise((resolve) => setTimeout(resolve, isSlow ? random.below(LONGEST_MS) : 0));
  return {
    async fetch(_url, init) {
      const { query: source, variables: variableValues } = JSON.parse(init?.body as string) as {
        query: string;
        variables: Record<string, unknown>;
      };
      if (source.startsWith('mutation')) changes += 1;
      await way();
      const isLost = isSlow && random.below(5) === 0;
      const answer = isLost
        ? null
        : await execute({ schema: SCHEMA, document: documentOf(source), variableValues, rootValue: root });
      const text = JSON.stringify(answer);
      await way();
      if (isLost) throw new TypeError('Failed to fetch');
      return {
        status: 200,
        headers: new Headers(
          reader === undefined ? {} : { 'fanfare-reader': reader, 'content-language': 'de' },
        ),
        text: () => Promise.resolve(text),
      } as Response;
    },
    begin() {
      isSlow = true;
    },
    changes: () => changes,
    view: () => ({
      ...{ likes: OTHERS + Number(mine.hasLiked), comments: comments.length, ...mine },
      ...{ bookmarks: Number(mine.isBookmarked), texts: comments.map(({ text }) => text) },
    }),
  };
}
