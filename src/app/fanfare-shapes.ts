import type { Environment } from '../config/env.ts';
import type { SettingName } from '../config/settings.ts';
import type { DescriptorDeclaration, DescriptorInputOf, StoredDescriptorOf } from '../descriptors/declare.ts';
import type { ALWAYS, PackName, PACKS } from '../descriptors/packs/packs.ts';
import type { ActionRef, Scope } from '../domain/action.ts';
import type { DeliveryReason } from '../domain/newsfeed-item.ts';
import type { Role } from '../domain/viewer.ts';
import type { Answer } from '../graphql/run-operation.ts';
import type { DemoPerson } from '../http/pages/console.ts';
import type {
  FeedFilter,
  FollowInput,
  MemberInput,
  PublishActionInput,
  RefInput,
} from '../services/shapes.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { AppGroup, StartStep } from './group-and-steps.ts';

/** The types of a configuration: its own, those of its packs, and Custom. */
export type TypesOf<D extends readonly DescriptorDeclaration[], P extends readonly PackName[]> =
  | D[number]
  | (typeof PACKS)[P[number]][number]
  | (typeof ALWAYS)[number];

export interface FanfareOptions {
  /** Settings by their names, such as MONGODB_URI. What is not given is taken from the environment. */
  readonly settings?: Readonly<Partial<Record<SettingName, string>>>;
  /** Whether it listens on PORT, and on METRICS_PORT, for which it needs JWT_SECRET or JWKS_URI. Default: no. */
  readonly api?: boolean;
  /** Whether it delivers what is published, in the background. Default: yes. */
  readonly worker?: boolean;
  /** Where TENANT_CLAIM is set: the tenant whose data the methods read and write. */
  readonly tenant?: string;
  /** Where its log goes. Default: stderr, as LOG_LEVEL says. */
  readonly logger?: Logger;
  /** Where settings are taken from that are not given. Default: the environment of this process. */
  readonly environment?: Environment;
  /** Whether METRICS_PORT is listened on, if it is set. Default: where there is an API. */
  readonly metrics?: boolean;
  /** Makes spans of requests, passes and commands, for the SDK of OpenTelemetry that this process has started. */
  readonly traces?: boolean;
  /** Where Redis cannot be reached at the start, it is waited for. Default: the start fails. */
  readonly waitsForRedis?: boolean;
  /** Hears what is done about databases until they are there. */
  readonly onStep?: (step: StartStep) => void;
  /** What the pages of the API fill in for who opens them on this machine: a token, and people to look at feeds as. */
  readonly pages?: {
    readonly token?: string | undefined;
    readonly people?: (() => Promise<readonly DemoPerson[]>) | undefined;
  };
  /** Of all processes that serve as one, where this is one of several: what /ready and /metrics answer. */
  readonly group?: AppGroup;
}

/** An action to record. Refs that follow from the descriptor need not be given. */
export interface Publication<T extends DescriptorDeclaration> extends Omit<
  PublishActionInput,
  'actorId' | 'scope' | 'descriptor'
> {
  readonly actorId: string;
  /** Default: FOLLOWERS. */
  readonly scope?: Scope;
  readonly descriptor: DescriptorInputOf<T>;
}

/** An action as it is stored; of a type that is not declared any more the descriptor is what was recorded. */
export interface RecordedAction<T extends DescriptorDeclaration> {
  /** Global id, as in the API. */
  readonly id: string;
  readonly actorId: string;
  readonly conducted: Date;
  readonly recorded: Date;
  readonly refs: readonly ActionRef[];
  readonly descriptor: StoredDescriptorOf<T>;
}

export interface FeedItem<T extends DescriptorDeclaration> {
  readonly action: RecordedAction<T>;
  /** A whole sentence with the names of now. */
  readonly summary: string;
  readonly relevancy: Date;
  readonly reasons: readonly DeliveryReason[];
  readonly isUnread: boolean;
}

export interface FeedItems<T extends DescriptorDeclaration> {
  readonly items: readonly FeedItem<T>[];
  /** For `after`. Null on an empty page. */
  readonly endCursor: string | null;
  readonly hasNextPage: boolean;
}

export interface ReadOptions {
  /** 1 to 100. Default: 25. */
  readonly first?: number;
  readonly after?: string | null;
  readonly filter?: FeedFilter;
  /** Languages of the summaries, as in Accept-Language. Default: English. */
  readonly locale?: string;
}

export interface QueryOptions {
  readonly memberId?: string;
  /** Default: `user`, without a member `service` too. */
  readonly roles?: readonly Role[];
  /** Languages of sentences, as in Accept-Language. Default: English. */
  readonly locale?: string;
}

/** A server in this process. What it refuses is a FanfareError with a code of the API. */
export interface Fanfare<T extends DescriptorDeclaration> extends AsyncDisposable {
  /** Where the API answers; null without one, and before `start`. */
  readonly url: string | null;
  /** The schema of the API with the types of the configuration, as SDL. It need not be started for that. */
  schema(): Promise<string>;
  /** Connects to the databases, or starts local ones where no address is given. */
  start(): Promise<void>;
  /** Names people. Returns how many. */
  upsertMembers(members: readonly MemberInput[]): Promise<number>;
  /** Names things. Returns how many. */
  upsertRefs(refs: readonly RefInput[]): Promise<number>;
  /** Returns how many follows are new. */
  follow(pairs: readonly FollowInput[]): Promise<number>;
  publish(
    action: Publication<T>,
  ): Promise<{ readonly action: RecordedAction<T>; readonly isReplay: boolean }>;
  /** Resolves when everything that was published is delivered, by this process or another. */
  delivered(): Promise<void>;
  /** A page of the feed of a member. */
  read(memberId: string, options?: ReadOptions): Promise<FeedItems<T>>;
  /** Anything else: a query or mutation of the API, as a member; without one as a service. What fails is in `errors`. */
  query<R>(
    document: string,
    variables?: Readonly<Record<string, unknown>>,
    as?: QueryOptions,
  ): Promise<Answer<R>>;
  /** Idempotent. Work under way is finished or handed back. */
  close(): Promise<void>;
}
