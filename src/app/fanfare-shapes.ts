import type { Environment } from '../config/env.ts';
import type { StartStep } from '../connections/databases.ts';
import type { DescriptorDeclaration, DescriptorInputOf, StoredDescriptorOf } from '../descriptors/declare.ts';
import type { ALWAYS, PackName, PACKS } from '../descriptors/packs/packs.ts';
import type { ActionRef, Scope } from '../domain/action.ts';
import type { DeliveryReason } from '../domain/newsfeed-item.ts';
import type { Role } from '../domain/viewer.ts';
import type { Answer } from '../graphql/run-operation.ts';
import type { DemoPerson } from '../http/http-context.ts';
import type { FeedFilter, FollowInput, MemberInput, PublishActionInput, RefInput } from '../core/shapes.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Readiness } from '../http/pages/health.ts';

/** All types of a configuration: its own, those of its packs, and Custom. */
export type TypesOf<D extends readonly DescriptorDeclaration[], P extends readonly PackName[]> =
  | D[number]
  | (typeof PACKS)[P[number]][number]
  | (typeof ALWAYS)[number];

/** @typeParam Name of a setting */
export interface FanfareOptions<Name extends string = string> {
  /** Settings by name, such as MONGODB_URI. Those not given come from the environment. */
  readonly settings?: Readonly<Partial<Record<Name, string>>>;
  /** Listen on PORT and METRICS_PORT; requires JWT_SECRET or JWKS_URI. Default: false. */
  readonly api?: boolean;
  /** Run the background workers that deliver publications. Default: true. */
  readonly worker?: boolean;
  /** With TENANT_CLAIM: the tenant whose data the methods read and write. */
  readonly tenant?: string;
  /** Destination of log lines. Default: stderr, at LOG_LEVEL. */
  readonly logger?: Logger;
  /** Source of settings not given in `settings`. Default: this process's environment. */
  readonly environment?: Environment;
  /** Listen on METRICS_PORT if set. Default: true when there is an API. */
  readonly metrics?: boolean;
  /** Create spans for requests, passes and commands with the OpenTelemetry SDK started in this process. */
  readonly traces?: boolean;
  /** Wait for Redis when it cannot be reached at start. Default: fail. */
  readonly waitsForRedis?: boolean;
  /** Called with the steps taken until the databases are ready. */
  readonly onStep?: (step: StartStep) => void;
  /** Values prefilled in the API's pages when opened on this machine: a token and people whose feeds can be viewed. */
  readonly pages?: {
    readonly token?: string | undefined;
    readonly people?: (() => Promise<readonly DemoPerson[]>) | undefined;
  };
  /** The group that this process belongs to, if any: answers /ready and /metrics for all its processes. */
  readonly group?: AppGroup;
}

/** An action to publish. Refs that follow from the descriptor may be omitted. */
export interface Publication<T extends DescriptorDeclaration> extends Omit<
  PublishActionInput,
  'actorId' | 'scope' | 'descriptor'
> {
  readonly actorId: string;
  /** Default: FOLLOWERS. */
  readonly scope?: Scope;
  readonly descriptor: DescriptorInputOf<T>;
}

/** A stored action. If its type is no longer declared, the descriptor is returned as recorded. */
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
  /** A complete sentence with current names. */
  readonly summary: string;
  readonly relevancy: Date;
  readonly reasons: readonly DeliveryReason[];
  readonly isUnread: boolean;
}

export interface FeedItems<T extends DescriptorDeclaration> {
  readonly items: readonly FeedItem<T>[];
  /** Pass as `after` to get the next page. `null` on an empty page. */
  readonly endCursor: string | null;
  readonly hasNextPage: boolean;
}

export interface ReadOptions {
  /** 1 to 100. Default: 25. */
  readonly first?: number;
  readonly after?: string | null;
  readonly filter?: FeedFilter;
  /** Languages of the summaries, in Accept-Language syntax. Default: English. */
  readonly locale?: string;
}

export interface QueryOptions {
  readonly memberId?: string;
  /** Default: `user`; without a member also `service`. */
  readonly roles?: readonly Role[];
  /** Languages of sentences, in Accept-Language syntax. Default: English. */
  readonly locale?: string;
}

/** A server inside this process. Rejected calls throw a FanfareError with an error code of the API. */
export interface Fanfare<T extends DescriptorDeclaration> extends AsyncDisposable {
  /** Base URL of the API; `null` without an API and before `start`. */
  readonly url: string | null;
  /** The API's schema, including the configured types, as SDL. Works before `start`. */
  schema(): Promise<string>;
  /** Connects to the configured databases, or starts local ones when no address is given. */
  start(): Promise<void>;
  /** Creates or updates members. Returns their number. */
  upsertMembers(members: readonly MemberInput[]): Promise<number>;
  /** Creates or updates refs. Returns their number. */
  upsertRefs(refs: readonly RefInput[]): Promise<number>;
  /** Returns the number of new follows. */
  follow(pairs: readonly FollowInput[]): Promise<number>;
  publish(
    action: Publication<T>,
  ): Promise<{ readonly action: RecordedAction<T>; readonly isReplay: boolean }>;
  /** Resolves when all publications are delivered, whichever process delivers them. */
  delivered(): Promise<void>;
  read(memberId: string, options?: ReadOptions): Promise<FeedItems<T>>;
  /** Runs any query or mutation of the API as a member, or as a service without one. Failures are in `errors`. */
  query<R>(
    document: string,
    variables?: Readonly<Record<string, unknown>>,
    as?: QueryOptions,
  ): Promise<Answer<R>>;
  /** Finishes or releases work in progress. Idempotent. */
  close(): Promise<void>;
}

// Public types, kept free of imports of the implementation.

/** Answers that several processes of one server give together. */
export interface AppGroup {
  readonly readiness: () => Promise<Readiness>;
  readonly metrics: () => Promise<string>;
}
