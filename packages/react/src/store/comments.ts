import type { ActionEvent, ActionState, FeedClient, Interaction, InteractionChange } from '@fanfare/client';
import { comments } from '../more-documents.ts';
import type { FanfareItem } from '../item.ts';
import type { Actions } from './actions.ts';
import { asError } from './as-error.ts';
import type { Connection } from './connection.ts';
import { kept } from './kept.ts';
import { readAgain } from './read-again.ts';
import { Signal } from './signal.ts';
import { randomKey } from './random-key.ts';

/** A comment of the reader that is on its way or did not get there; its text stays until it is dismissed. */
export interface Draft {
  readonly key: string;
  readonly text: string;
  readonly parentId: string | undefined;
  readonly mentions: readonly string[];
  readonly error: Error | null;
}

export interface SendOptions {
  /** The comment it replies to, which is no reply itself. */
  readonly parentId?: string | undefined;
  /** Ids of members it mentions, who are notified. */
  readonly mentions?: readonly string[];
  /** Of a draft that failed: sent again it is the same comment, which is recorded once. */
  readonly key?: string;
}

export interface CommentsSnapshot {
  /** The latest first. `HIDDEN` is what the reader wrote and waits for review: nobody else sees it but moderators. */
  readonly comments: readonly Interaction[];
  /** The reader, who may edit and remove what is theirs; null until it is known. */
  readonly me: string | null;
  readonly drafts: readonly Draft[];
  readonly status: 'idle' | 'loading' | 'ready' | 'error';
  readonly error: Error | null;
  readonly hasNextPage: boolean;
}

interface Page {
  readonly edges: readonly { readonly node: Interaction }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

const PAGE_SIZE = 20;
const EMPTY: CommentsSnapshot = {
  comments: [],
  me: null,
  drafts: [],
  status: 'idle',
  error: null,
  hasNextPage: false,
};

/** As a thread was last, without what was under way. */
export interface KeptThread extends Page {
  readonly me: string | null;
  readonly version: number;
}

interface OfReader {
  readonly actions: Actions;
  readonly client: FeedClient<FanfareItem>;
  readonly connection: Connection;
  /** What is kept of an earlier page. */
  readonly keptPage?: (key: string) => unknown;
  /** Notified of each thread that is made. */
  readonly onThread?: (thread: CommentStore, key: string) => void;
}

/** The comments of one action. Read again with each change of any of them, whether or not a list that is shown has the action. */
export class CommentStore extends Signal {
  readonly #actionId: string;
  readonly #client: Pick<FeedClient<FanfareItem>, 'fields' | 'request' | 'mutations'>;
  readonly #actions: Actions;
  readonly #connection: Connection;
  #snapshot = EMPTY;
  #comments: readonly Interaction[] = [];
  /** What of the reader's waits for review, as of the last answer. */
  #inReview: readonly Interaction[] = [];
  /** By the reader; also while that is on its way. */
  readonly #removed = new Set<string>();
  /** What the reader has made of the texts, on its way. */
  readonly #edits = new Map<string, string>();
  #me: string | null = null;
  /** What was sent since the last request, which may have been answered without it. */
  #sentMeanwhile: Interaction[] = [];
  #reading = Promise.resolve();
  #readError: Error | null = null;
  #cursor: string | null = null;
  /** Of the comments that are shown. */
  #version = -1;
  #isDue = false;

  constructor(actionId: string, { client, actions, connection }: OfReader, kept?: KeptThread) {
    super();
    if (kept !== undefined) this.#begin(kept);
    this.#actionId = actionId;
    this.#client = client;
    this.#actions = actions;
    this.#connection = connection;
  }

  readonly getSnapshot = (): CommentsSnapshot => this.#snapshot;
  /** The HTML has no comments: they are loaded by the page, or were kept there. */
  readonly getServerSnapshot = (): CommentsSnapshot => EMPTY;

  /** Undefined: nothing was read yet. */
  get page(): KeptThread | undefined {
    const { status, hasNextPage } = this.#snapshot;
    if (status !== 'ready') return undefined;
    return {
      edges: this.#comments.filter(({ id }) => !this.#removed.has(id)).map((node) => ({ node })),
      pageInfo: { hasNextPage, endCursor: this.#cursor },
      ...{ me: this.#me, version: this.#version },
    };
  }

  readonly use = (listener: () => void): (() => void) => {
    const leave = this.subscribe(listener);
    const close = this.#connection.open({
      ...{ what: 'watchAction', of: { actionId: this.#actionId }, cursor: undefined },
      onEvent: (event: ActionEvent) => {
        if (event.__typename === 'ActionGone') return this.#readAll();
        if (event.__typename !== 'ActionChanged') return undefined;
        this.#actions.confirmState(event.action);
        this.#actions.emit();
        // In no list that is shown.
        this.#follow(event.action.commentsVersion);
        return undefined;
      },
      // What happened between the first page and the watch came by no event.
      onResync: () => this.#readAll(),
      onLive: () => {
        if (this.#snapshot.error !== null && this.#snapshot.error === this.#readError) void this.#readAll();
      },
    });
    const leaveActions = this.#actions.subscribe(() => {
      this.#follow();
    });
    // What failed is asked for again for the next one that shows it.
    if (this.#snapshot.status === 'error') this.#set({ status: 'idle', error: null });
    this.#follow();
    return () => {
      leave();
      leaveActions();
      close();
    };
  };

  readonly loadMore = (): Promise<void> =>
    this.#read(async () => {
      const { edges, pageInfo } = await this.#request(PAGE_SIZE, this.#cursor);
      return { edges: [...this.#comments.map((node) => ({ node })), ...edges], pageInfo };
    });

  /** Shown at once as a draft. Sent again after a failure it is the same comment, which is recorded once. */
  readonly send = async (
    text: string,
    { parentId, mentions = [], key = randomKey() }: SendOptions = {},
  ): Promise<void> => {
    await this.take({ key, text, parentId, mentions, error: null }, () =>
      this.#client.mutations.addInteraction({
        input: {
          ...{ actionId: this.#actionId, kind: 'COMMENT', text, idempotencyKey: key },
          ...(parentId === undefined ? {} : { parentId }),
          ...(mentions.length === 0 ? {} : { mentions }),
        },
      }),
    );
  };

  /** Shows a draft until what sends it has done so. */
  async take(draft: Draft, send: () => Promise<InteractionChange>): Promise<void> {
    const { key } = draft;
    this.#setDraft(key, draft);
    try {
      // Its event may come before its answer: meanwhile it is known as the reader's own.
      const { interaction, action } = await this.#actions.write(this.#actionId, {}, send);
      // One that was removed since it was recorded is not shown again.
      if (interaction !== null && interaction.state !== 'REMOVED') this.#put(interaction);
      this.#setDraft(key, null);
      this.#confirm(action);
    } catch (error) {
      this.#setDraft(key, { ...draft, error: asError(error) });
    }
  }

  readonly dismiss = (key: string): void => {
    this.#setDraft(key, null);
  };

  /** Shown at once, and taken back when it fails. @throws what it failed with */
  readonly edit = async (id: string, text: string): Promise<void> => {
    this.#edits.set(id, text);
    this.#set({ error: null });
    try {
      const edited = await this.#client.mutations.updateInteraction({ id, text });
      this.#comments = this.#comments.map((one) => (one.id === id ? edited : one));
    } catch (error) {
      this.#set({ error: asError(error) });
      throw error;
    } finally {
      // The last edit is what is shown.
      if (this.#edits.get(id) === text) this.#edits.delete(id);
      this.#set({});
    }
  };

  readonly remove = async (id: string): Promise<void> => {
    this.#removed.add(id);
    this.#set({ error: null });
    try {
      const { action } = await this.#client.mutations.removeInteraction({ input: { id } });
      this.#confirm(action);
    } catch (error) {
      this.#removed.delete(id);
      this.#set({ error: asError(error) });
    }
  };

  #begin({ edges, pageInfo, me, version }: KeptThread): void {
    this.#comments = edges.map(({ node }) => node);
    this.#cursor = pageInfo.endCursor;
    this.#me = me;
    this.#version = version;
    this.#set({ status: 'ready', hasNextPage: pageInfo.hasNextPage });
  }

  /** Its own change is shown already. With others between it and what is shown, all is read again. */
  #confirm(action: ActionState): void {
    if (action.commentsVersion === this.#version + 1) this.#version = action.commentsVersion;
    this.#actions.confirmState(action);
    this.#actions.emit();
  }

  #follow(commentsVersion = this.#actions.get(this.#actionId)?.commentsVersion ?? this.#version): void {
    if (commentsVersion === this.#version && this.#snapshot.status !== 'idle') return;
    this.#version = commentsVersion;
    void this.#readAll();
  }

  #readAll(): Promise<void> {
    if (this.#snapshot.status === 'idle') this.#set({ status: 'loading' });
    // What changes while it waits for its turn is in the answer.
    if (this.#isDue) return this.#reading;
    this.#isDue = true;
    return this.#read(() => {
      this.#isDue = false;
      return readAgain<Page['edges'][number], Page>(
        (first, after) => this.#request(first, after),
        PAGE_SIZE,
        this.#comments.length,
        ({ node }) => {
          const last = this.#comments.at(-1);
          return last === undefined || node.id === last.id || node.at < last.at;
        },
      );
    });
  }

  /** One request after the other: each goes on from what the one before has brought. */
  #read(request: () => Promise<Page>): Promise<void> {
    return (this.#reading = this.#reading.then(async () => {
      this.#sentMeanwhile = [];
      try {
        const { edges, pageInfo } = await request();
        this.#cursor = pageInfo.endCursor;
        const read = edges.map(({ node }) => node);
        this.#comments = eachOnce([...this.#sentMeanwhile, ...this.#inReview, ...read]);
        const { error } = this.#snapshot;
        // That something could not be removed is still so.
        const stays = error === this.#readError ? null : error;
        this.#set({ hasNextPage: pageInfo.hasNextPage, status: 'ready', error: stays });
      } catch (reason) {
        const { status } = this.#snapshot;
        const error = (this.#readError = asError(reason));
        this.#set({ error, status: status === 'ready' ? status : 'error' });
      }
    }));
  }

  async #request(first: number, after: string | null): Promise<Page> {
    interface Data {
      readonly viewer?: { readonly memberId: string };
      readonly node: {
        readonly interactions: Page;
        readonly viewer?: { readonly commentsInReview: readonly Interaction[] };
      } | null;
    }
    const { viewer, node } = await this.#client.request<Data>(comments(this.#client.fields), {
      id: this.#actionId,
      first,
      after,
    });
    this.#me = viewer?.memberId ?? null;
    this.#inReview = node?.viewer?.commentsInReview ?? [];
    return node?.interactions ?? { edges: [], pageInfo: { hasNextPage: false, endCursor: null } };
  }

  #put(comment: Interaction): void {
    this.#sentMeanwhile.unshift(comment);
    this.#comments = eachOnce([comment, ...this.#comments]);
    this.#set({});
  }

  #setDraft(key: string, draft: Draft | null): void {
    const others = this.#snapshot.drafts.filter((one) => one.key !== key);
    this.#set({ drafts: draft === null ? others : [...others, draft] });
  }

  #set(change: Partial<CommentsSnapshot>): void {
    const comments = this.#comments
      .filter(({ id }) => !this.#removed.has(id))
      .map((one) => (this.#edits.has(one.id) ? { ...one, text: this.#edits.get(one.id) ?? null } : one));
    this.#snapshot = { ...this.#snapshot, ...change, comments, me: this.#me };
    this.emit();
  }
}

/** The latest first, and as the last of the same says. */
function eachOnce(comments: readonly Interaction[]): readonly Interaction[] {
  const found = new Map(comments.map((comment) => [comment.id, comment]));
  return [...found.values()].sort((a, b) => Number(a.at < b.at) - Number(a.at > b.at));
}

const stores = kept<CommentStore>();

/** One for each action that a reader looks at. */
export function commentsOf(reader: OfReader, actionId: string): CommentStore {
  return stores(reader.actions, actionId, () => {
    const key = `comments ${actionId}`;
    const store = new CommentStore(actionId, reader, reader.keptPage?.(key) as KeptThread | undefined);
    reader.onThread?.(store, key);
    return store;
  });
}
