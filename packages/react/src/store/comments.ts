import { INTERACTION_FIELDS, type FeedClient, type Interaction } from '@fanfare/client';
import type { FanfareItem } from '../item.ts';
import type { Actions } from './actions.ts';
import { Signal } from './signal.ts';

/** A comment of the reader that is on its way or did not get there; its text stays until it is dismissed. */
export interface Draft {
  readonly key: string;
  readonly text: string;
  readonly parentId: string | undefined;
  readonly error: Error | null;
}

export interface CommentsSnapshot {
  /** The latest first. */
  readonly comments: readonly Interaction[];
  readonly drafts: readonly Draft[];
  readonly status: 'idle' | 'loading' | 'ready' | 'error';
  readonly error: Error | null;
  readonly hasNextPage: boolean;
}

interface Page {
  readonly node: {
    readonly interactions: {
      readonly edges: readonly { readonly node: Interaction }[];
      readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
    };
  } | null;
}

const QUERY = `query Comments($id: ID!, $after: String) { node(id: $id) { ... on Action {
  interactions(first: 20, after: $after, kinds: [COMMENT]) {
    edges { node { ${INTERACTION_FIELDS} } } pageInfo { hasNextPage endCursor }
  } } } }`;

const EMPTY: CommentsSnapshot = {
  comments: [],
  drafts: [],
  status: 'idle',
  error: null,
  hasNextPage: false,
};

/** The comments of one action. Read again when their number has changed. */
export class CommentStore extends Signal {
  readonly #actionId: string;
  readonly #client: Pick<FeedClient<FanfareItem>, 'request' | 'mutations'>;
  readonly #actions: Actions;
  #snapshot = EMPTY;
  #cursor: string | null = null;
  #count = -1;

  constructor(
    actionId: string,
    client: Pick<FeedClient<FanfareItem>, 'request' | 'mutations'>,
    actions: Actions,
  ) {
    super();
    this.#actionId = actionId;
    this.#client = client;
    this.#actions = actions;
  }

  readonly getSnapshot = (): CommentsSnapshot => this.#snapshot;

  readonly use = (listener: () => void): (() => void) => {
    const leave = this.subscribe(listener);
    const leaveActions = this.#actions.subscribe(() => {
      this.#follow();
    });
    this.#follow();
    return () => {
      leave();
      leaveActions();
    };
  };

  readonly loadMore = async (): Promise<void> => {
    try {
      const { edges, pageInfo } = await this.#read(this.#cursor);
      const known = new Set(this.#snapshot.comments.map(({ id }) => id));
      const more = edges.map(({ node }) => node).filter(({ id }) => !known.has(id));
      this.#cursor = pageInfo.endCursor;
      this.#set({ comments: [...this.#snapshot.comments, ...more], hasNextPage: pageInfo.hasNextPage });
    } catch (error) {
      this.#set({ error: error as Error });
    }
  };

  /** Shown at once as a draft. Sent again after a failure it is the same comment, which is recorded once. */
  readonly send = async (
    text: string,
    parentId?: string,
    key: string = crypto.randomUUID(),
  ): Promise<void> => {
    const draft: Draft = { key, text, parentId, error: null };
    this.#setDraft(key, draft);
    try {
      const { interaction, action } = await this.#client.mutations.addInteraction({
        input: {
          ...{ actionId: this.#actionId, kind: 'COMMENT', text, idempotencyKey: key },
          ...(parentId === undefined ? {} : { parentId }),
        },
      });
      this.#count = action.engagement.comments;
      if (interaction !== null) this.#put(interaction);
      this.#setDraft(key, null);
      this.#actions.confirmState(action);
      this.#actions.emit();
    } catch (error) {
      this.#setDraft(key, { ...draft, error: error as Error });
    }
  };

  readonly dismiss = (key: string): void => {
    this.#setDraft(key, null);
  };

  readonly remove = async (id: string): Promise<void> => {
    const { comments } = this.#snapshot;
    this.#set({ comments: comments.filter((one) => one.id !== id) });
    try {
      const { action } = await this.#client.mutations.removeInteraction({ input: { id } });
      this.#count = action.engagement.comments;
      this.#actions.confirmState(action);
      this.#actions.emit();
    } catch (error) {
      this.#set({ comments, error: error as Error });
    }
  };

  #follow(): void {
    const count = this.#actions.get(this.#actionId)?.engagement.comments ?? 0;
    if (count === this.#count && this.#snapshot.status !== 'idle') return;
    this.#count = count;
    void this.#load();
  }

  async #load(): Promise<void> {
    if (this.#snapshot.status === 'idle') this.#set({ status: 'loading' });
    try {
      const { edges, pageInfo } = await this.#read(null);
      this.#cursor = pageInfo.endCursor;
      this.#set({
        comments: edges.map(({ node }) => node),
        hasNextPage: pageInfo.hasNextPage,
        status: 'ready',
        error: null,
      });
    } catch (error) {
      this.#set({ error: error as Error, status: this.#snapshot.status === 'ready' ? 'ready' : 'error' });
    }
  }

  async #read(after: string | null): Promise<NonNullable<Page['node']>['interactions']> {
    const { node } = await this.#client.request<Page>(QUERY, { id: this.#actionId, after });
    return node?.interactions ?? { edges: [], pageInfo: { hasNextPage: false, endCursor: null } };
  }

  #put(comment: Interaction): void {
    const others = this.#snapshot.comments.filter(({ id }) => id !== comment.id);
    this.#set({ comments: [comment, ...others] });
  }

  #setDraft(key: string, draft: Draft | null): void {
    const others = this.#snapshot.drafts.filter((one) => one.key !== key);
    this.#set({ drafts: draft === null ? others : [...others, draft] });
  }

  #set(change: Partial<CommentsSnapshot>): void {
    this.#snapshot = { ...this.#snapshot, ...change };
    this.emit();
  }
}
