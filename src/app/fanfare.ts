import type { Config } from '../config/config.ts';
import { readEnvironment, type Environment } from '../config/env.ts';
import { readConfig } from '../config/read-config.ts';
import type { SettingName } from '../config/settings.ts';
import { withReactions } from '../config/with-reactions.ts';
import type { DescriptorDeclaration, DescriptorInputOf, StoredDescriptorOf } from '../descriptors/declare.ts';
import { checkHostConfig, type HostConfig } from '../descriptors/host-config.ts';
import type { ALWAYS, PackName, PACKS } from '../descriptors/packs/packs.ts';
import { localeFor, useDescriptors } from '../descriptors/registry.ts';
import type { Action, ActionRef, Scope } from '../domain/action.ts';
import type { DeliveryReason } from '../domain/newsfeed-item.ts';
import type { Role } from '../domain/viewer.ts';
import { FEED_MODEL_NAMES } from '../feeds/registry.ts';
import { encodeActionId } from '../graphql/global-id.ts';
import { printedSchema } from '../graphql/printed-schema.ts';
import { runOperation, type Answer } from '../graphql/run-operation.ts';
import { buildSchema } from '../graphql/schema.ts';
import { sentenceOfAction } from '../graphql/sentence-of-action.ts';
import type {
  FeedFilter,
  FollowInput,
  MemberInput,
  PublishActionInput,
  RefInput,
} from '../services/shapes.ts';
import { isDatabaseUnavailable } from '../storage/errors.ts';
import { createFailureLog } from '../telemetry/failure-log.ts';
import { createLogger, type Logger } from '../telemetry/logger.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import { Acting } from './acting.ts';
import { openServer, type Server } from './open-server.ts';

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
  /** The schema of the API with the types of the configuration, as SDL. */
  readonly schema: string;
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

/**
 * A server for this process; nothing is opened before `start`. A process has one set of types: further ones need the same.
 * @throws HostConfigError, ConfigError with all faults.
 */
export function createFanfare<
  const D extends readonly DescriptorDeclaration[] = readonly [],
  const P extends readonly PackName[] = readonly ['recruiting', 'social'],
>(hostConfig: HostConfig<D, P>, options: FanfareOptions = {}): Fanfare<TypesOf<D, P>> {
  const checked = checkHostConfig(hostConfig, 'The configuration');
  useDescriptors(checked);
  const env = withReactions({ ...readEnvironment(), ...options.settings }, checked.reactions);
  const config = readConfig(env, { feedModels: FEED_MODEL_NAMES, needsKey: options.api ?? false });
  const acting = new Acting(config, options.tenant);
  const schema = buildSchema({ hasTenants: config.auth.tenantClaim !== undefined });
  const logger = options.logger ?? createLogger({ level: config.log.level });
  return new RunningFanfare<TypesOf<D, P>>({ config, env, options, logger, schema, acting });
}

interface Prepared {
  readonly config: Config;
  readonly env: Environment;
  readonly options: FanfareOptions;
  readonly logger: Logger;
  readonly schema: ReturnType<typeof buildSchema>;
  readonly acting: Acting;
}

class RunningFanfare<T extends DescriptorDeclaration> implements Fanfare<T> {
  readonly schema: string;
  readonly #prepared: Prepared;
  readonly #acting: Acting;
  readonly #logFailure: ReturnType<typeof createFailureLog>;
  #opening: Promise<Server> | null = null;
  #server: Server | null = null;
  #closing: Promise<void> | null = null;

  constructor(prepared: Prepared) {
    this.#prepared = prepared;
    this.#acting = prepared.acting;
    this.#logFailure = createFailureLog(prepared.logger);
    this.schema = printedSchema(prepared.schema);
  }

  get url(): string | null {
    return this.#server?.app.url ?? null;
  }

  async start(): Promise<void> {
    if (this.#opening !== null || this.#closing !== null) throw new Error('It can be started once');
    this.#opening = openPrepared(this.#prepared);
    this.#server = await this.#opening;
  }

  async upsertMembers(members: readonly MemberInput[]): Promise<number> {
    return this.#services().upsertMembers(this.#acting.service(), this.#acting.stored(members));
  }

  async upsertRefs(refs: readonly RefInput[]): Promise<number> {
    return this.#services().upsertRefs(this.#acting.service(), this.#acting.stored({ refs }).refs);
  }

  async follow(pairs: readonly FollowInput[]): Promise<number> {
    return this.#services().followMany(this.#acting.service(), this.#acting.stored(pairs));
  }

  async publish(publication: Publication<T>) {
    const input = this.#acting.stored<PublishActionInput>(publication);
    const { action, isReplay } = await this.#services().publishAction(this.#acting.service(), input);
    return { action: this.#acting.shown(recordedAction<T>(action)), isReplay };
  }

  async delivered(): Promise<void> {
    await this.#required().app.idle();
  }

  async read(memberId: string, { locale, ...args }: ReadOptions = {}): Promise<FeedItems<T>> {
    const services = this.#services();
    const reader = this.#acting.as(memberId, ['user']);
    const session = services.openSession(reader);
    const after = args.after == null ? null : services.cursors.given(reader.userId, args.after);
    const asked = { ...this.#acting.stored(args), after };
    const { edges, endCursor, hasNextPage } = await services.readFeed(session, asked);
    const items = edges.map(async ({ node: { action, relevancy, reasons, isUnread } }) => ({
      action: recordedAction<T>(action),
      summary: await sentenceOfAction(session, action, localeFor(locale)),
      ...{ relevancy, reasons, isUnread },
    }));
    return {
      items: this.#acting.shown(await Promise.all(items)),
      endCursor: endCursor === null ? null : services.cursors.shown(reader.userId, endCursor),
      hasNextPage,
    };
  }

  async query<R>(
    document: string,
    variables: Readonly<Record<string, unknown>> = {},
    { memberId, roles = ['user'], locale }: QueryOptions = {},
  ): Promise<Answer<R>> {
    const { schema } = this.#prepared;
    return runOperation<R>(
      schema,
      this.#services(),
      {
        ...{ document, variables, locale: localeFor(locale) },
        identity: memberId === undefined ? this.#acting.service() : this.#acting.as(memberId, roles),
      },
      { isUnavailable: isDatabaseUnavailable, report: this.#logFailure },
    );
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    // The caller of `start` gets the reason when it could not be opened.
    const server = await this.#opening?.catch(() => null);
    this.#server = null;
    await server?.[Symbol.asyncDispose]();
  }

  #required(): Server {
    if (this.#server === null) throw new Error('It has not been started, or is closed');
    return this.#server;
  }

  #services(): Server['app']['services'] {
    this.#acting.check();
    return this.#required().app.services;
  }
}

function openPrepared({ config, env, options, logger }: Prepared): Promise<Server> {
  const { api = false, worker = true } = options;
  return openServer({
    ...{ config, env },
    // METRICS_PORT takes the page from the API, and without an API nothing is listened on.
    parts: { api, worker, metrics: api },
    steps: { onEvent: () => undefined },
    dependencies: () => Promise.resolve({ logger, metrics: createMetrics({ withProcess: false }) }),
  });
}

function recordedAction<T extends DescriptorDeclaration>(action: Action): RecordedAction<T> {
  const { id, actorId, conducted, recorded, refs, descriptor } = action;
  return {
    id: encodeActionId(id),
    ...{ actorId, conducted, recorded, refs },
    // It was checked by the declaration when it was recorded.
    descriptor: descriptor as unknown as StoredDescriptorOf<T>,
  };
}
