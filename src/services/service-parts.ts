import type { RankingWeights } from '../domain/ranking.ts';
import type { Identity } from '../domain/viewer.ts';
import type { FeedDependencies } from '../feeds/feed-dependencies.ts';
import type { FeedReader } from '../feeds/feed-reader.ts';
import type { FeedStore } from '../feeds/feed-store.ts';
import type { LiveLog } from '../realtime/live-log.ts';
import type { SessionEnds } from '../realtime/session-ends.ts';
import type { WorkSignal } from '../realtime/work-signal.ts';
import type { Repositories } from '../storage/repositories.ts';
import type { OpenEventSession } from './session/event-sessions.ts';
import type { ReaderSession } from './session/reader-session.ts';
import type { Ticket } from './shapes.ts';
import type { CursorSeal } from './tenants/cursor-seal.ts';
import type { TenantQuotas } from './tenants/quotas.ts';

/** All dependencies of the services. Each folder of services takes the part named for it below. */
export interface ServiceParts extends FeedDependencies, Repositories {
  /** Stores of every feed model that may still contain feeds, in use or not. */
  readonly feedStores: readonly FeedStore[];
  readonly dormantAfterMs: number;
  readonly ranking: RankingWeights;
  /** Reactions that members can give. */
  readonly reactions: readonly string[];
  readonly liveLog: LiveLog;
  readonly workSignal: Pick<WorkSignal, 'notify'>;
  readonly sessionEnds: SessionEnds;
  /** Opens an empty session. */
  readonly openSession: (identity: Identity) => ReaderSession;
  readonly openEventSession: OpenEventSession;
  /** A new id of 24 hex digits. */
  readonly newToken: () => string;
  readonly tickets: TicketOffice;
  readonly cursorSeal: CursorSeal;
  readonly quotas: TenantQuotas;
  /** Called with the number of newly recorded actions. */
  readonly onPublished: (count: number) => void;
  readonly onStoreUnavailable: (error: unknown) => void;
}

interface TicketOffice {
  sign(identity: Identity): Promise<Ticket>;
  read(ticket: string, tenant?: string): Promise<Identity>;
}

export interface ReadingDependencies
  extends
    FeedDependencies,
    Pick<
      ServiceParts,
      | 'actionGroups'
      | 'bookmarks'
      | 'dormantAfterMs'
      | 'itemMarks'
      | 'openSession'
      | 'rankedActions'
      | 'ranking'
      | 'readers'
      | 'scores'
      | 'snoozes'
      | 'workSignal'
    > {
  readonly feedReader: FeedReader;
  readonly liveLog: LiveLog;
}

export interface FollowDependencies
  extends FeedDependencies, Pick<ServiceParts, 'followEnds' | 'followerCounts' | 'newToken' | 'workSignal'> {}

export type InteractionDependencies = Pick<
  ServiceParts,
  'actions' | 'interactions' | 'members' | 'newToken' | 'openSession' | 'reactions' | 'workSignal'
>;

export type PublishDependencies = Pick<
  ServiceParts,
  'actions' | 'edits' | 'fanOuts' | 'members' | 'moderation' | 'onPublished' | 'quotas' | 'workSignal'
>;

export interface MemberDependencies
  extends FeedDependencies, Pick<ServiceParts, 'erasures' | 'quotas' | 'refs' | 'renames' | 'workSignal'> {}

export type ModerationDependencies = Pick<
  ServiceParts,
  | 'actions'
  | 'fanOuts'
  | 'follows'
  | 'liveLog'
  | 'members'
  | 'moderation'
  | 'onLiveLogError'
  | 'pins'
  | 'workSignal'
>;

export type PrivacyDependencies = Pick<
  ServiceParts,
  'erasureList' | 'erasures' | 'feedStore' | 'feeds' | 'memberData'
>;

export type LifecycleDependencies = Pick<
  ServiceParts,
  'erasedTenants' | 'erasures' | 'feeds' | 'offloads' | 'renames' | 'schemaVersion' | 'workSignal'
>;

export type TenantDependencies = Pick<
  ServiceParts,
  'erasedTenants' | 'feedStore' | 'liveLog' | 'onLiveLogError' | 'sessionEnds' | 'tenantData'
>;

export type HostEventDependencies = Pick<
  ServiceParts,
  'erasures' | 'hostEvents' | 'webhookDeliveries' | 'webhookReceivers'
>;

export type OperationsDependencies = Pick<
  ServiceParts,
  'feeds' | 'liveLog' | 'processes' | 'renames' | 'workFigures'
>;
