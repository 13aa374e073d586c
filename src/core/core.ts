import type { UserId } from '../domain/action.ts';
import type { Hooks } from '../domain/hook.ts';
import type { Identity } from '../domain/viewer.ts';
import type { OwnWorker } from '../fan-out/own-worker.ts';
import type { Context } from '../feed/context.ts';
import type { FeedReader } from '../feed/feed-reader.ts';
import type { ListFacts } from '../feed/watch/list-decisions.ts';
import type { FeedFacts } from '../feed/watch/live-decisions.ts';
import type { SharedDecisions, Watched } from '../feed/watch/shared-decisions.ts';
import type { BeginWatch, OpenEventSession } from '../feed/session/event-sessions.ts';
import type { Ticket, UnreadCount } from './shapes.ts';
import type { Samples } from '../features/operations/samples.ts';
import type { Quotas } from './quotas.ts';
import type { CursorSeal } from './cursor-seal.ts';

/** The context of use cases: takes the place of their first argument. */
export interface Core extends Context {
  /** The worker of this process, if it has one. */
  readonly ownWorker: OwnWorker;
  readonly feedReader: FeedReader;
  readonly quotas: Quotas;
  readonly directory: DirectoryAccess;
  /** Questions to the host before something is recorded. */
  readonly hooks: Hooks;
  /** Reports at which something is hidden until somebody has looked; `null`: never. */
  readonly reportHideAfter: number | null;
  readonly tickets: TicketOffice;
  /** `null` without Redis. */
  readonly samples: Samples | null;
  /** Converts cursors between their internal form and the form given to clients. */
  readonly cursors: CursorSeal;
  /** Opens the session of one live event; shares loads with other events rendered at the same time. */
  readonly openEventSession: OpenEventSession;
  readonly beginWatch: BeginWatch;
  /** Decides events for all watchers of feeds in the process. */
  readonly decisions: SharedDecisions<FeedFacts>;
  /** The same for watchers of slices and threads, apart from feeds: however busy one of them is, no feed waits for its reads. */
  readonly listDecisions: SharedDecisions<ListFacts>;
  /** Counts a watcher's unread items, with a read that begins after the call. */
  readonly countForWatcher: (watched: Watched) => Promise<UnreadCount>;
}

/** Needed by changes that are made in the background as well. */
export type ChangeCore = Context & Pick<Core, 'ownWorker'>;

/** Access to the search of the directory, and how often it may be used. */
export interface DirectoryAccess {
  /** Whether members may, too: otherwise only admins and services. */
  readonly isOpen: boolean;
  /** Takes one search of a member. Milliseconds until they may search again; `null`: now. Absent: not limited. */
  readonly takeSearch?: (userId: UserId) => Promise<number | null>;
}

/** For clients that cannot send headers. */
interface TicketOffice {
  sign(identity: Identity): Promise<Ticket>;
  /** The identity a ticket was made for, valid until the original token expires. Rejects with UNAUTHENTICATED. */
  read(ticket: string, header?: (name: string) => string | undefined): Promise<Identity>;
}
