import type { Config } from '../config/config.ts';
import { readEnvironment, type Environment } from '../config/env.ts';
import { readConfig, withReactions } from '../config/read-config.ts';
import type { DescriptorDeclaration, StoredDescriptorOf } from '../descriptors/declare.ts';
import { checkHostConfig, type HostConfig } from '../descriptors/host-config.ts';
import { checkViews } from '../feed/page/views.ts';
import type { CheckedHooks } from '../descriptors/host-hooks.ts';
import type { PackName } from '../descriptors/packs/packs.ts';
import { localeFor, useDescriptors } from '../descriptors/registry.ts';
import type { Action } from '../domain/action.ts';
import { BROUGHT, HOST_PARTS, METRICS } from './brought.ts';
import type { AnySettingName } from './setting-name.ts';
import { encodeActionId } from '../graphql/global-id.ts';
import type * as InProcess from './in-process.ts';
import type { Answer } from '../graphql/run-operation.ts';
import { once } from '../lib/once.ts';
import type { Core } from '../core/core.ts';
import type { FollowInput, MemberInput, PublishActionInput, RefInput } from '../core/shapes.ts';
import { isDatabaseUnavailable } from '../storage/database/errors.ts';
import { logDatabases } from '../telemetry/events.ts';
import { createFailureLog } from '../telemetry/failure-log.ts';
import { createLogger, type Logger } from '../telemetry/logger.ts';
import { createMetrics, type Metrics } from '../telemetry/metrics.ts';
import type {
  Fanfare,
  FanfareOptions,
  FeedItems,
  Publication,
  QueryOptions,
  ReadOptions,
  RecordedAction,
  TypesOf,
} from './fanfare-shapes.ts';
import { checkBeforeStart, startDatabases, withAddresses } from '../connections/databases.ts';
import { readFeed } from '../feed/page/read-page.ts';
import { openSession } from '../feed/session/open-session.ts';
import { followMany } from '../features/follow/follow.ts';
import { upsertMembers, upsertRefs } from '../features/directory/directory.ts';
import { publishAction } from '../features/publish/publish-action.ts';
import { isTenantName, TENANT_FORM } from '../domain/stored-id.ts';
import type { Identity, Role } from '../domain/viewer.ts';
import { Acting } from '../core/stored-input.ts';
import { createApp } from './app.ts';
import type { CommandServer, OpenServer } from './command-shapes.ts';

const SERVICE = 'service';
const SERVICE_ROLES: readonly Role[] = ['user', 'service'];

/** The identity and tenant a process acts with. */
class ActingHost extends Acting {
  readonly #isComplete: boolean;

  /** @throws Error when the tenant's name is invalid or tenants are off. */
  constructor({ auth }: Config, tenant: string | undefined) {
    const hasTenants = auth.tenantClaim !== undefined;
    if (tenant !== undefined && !hasTenants) throw new Error('tenant is given, but TENANT_CLAIM is not set');
    if (tenant !== undefined && !isTenantName(tenant))
      throw new Error(`tenant is "${String(tenant)}", expected ${TENANT_FORM}`);
    super(tenant ?? null);
    this.#isComplete = !hasTenants || tenant !== undefined;
  }

  /** @throws Error when tenants are on and none was given. */
  check(): void {
    if (!this.#isComplete) throw new Error('TENANT_CLAIM is set: createFanfare requires the option tenant');
  }

  service(): Identity {
    return this.by(SERVICE, SERVICE_ROLES);
  }

  by(userId: string, roles: readonly Role[]): Identity {
    return this.as({ userId, roles: new Set(roles), expiresAt: null });
  }
}

/**
 * Creates a server for this process; opens nothing before `start`. All servers of a process must use the same types.
 * @throws HostConfigError, ConfigError with all faults.
 */
export function createFanfare<
  const D extends readonly DescriptorDeclaration[] = readonly [],
  const P extends readonly PackName[] = readonly ['recruiting', 'social'],
>(hostConfig: HostConfig<D, P>, options: FanfareOptions<AnySettingName> = {}): Fanfare<TypesOf<D, P>> {
  return prepared<TypesOf<D, P>>(checkHostConfig(hostConfig, 'The configuration', HOST_PARTS), options);
}

/** The same for this package's own commands. */
export function createServer(hostConfig: HostConfig, options: FanfareOptions): CommandServer {
  return prepared<never>(checkHostConfig(hostConfig, 'The configuration', HOST_PARTS), options);
}

function prepared<T extends DescriptorDeclaration>(
  checked: ReturnType<typeof checkHostConfig>,
  options: FanfareOptions,
): RunningFanfare<T> {
  useDescriptors(checked);
  checkViews();
  const given = { ...(options.environment ?? readEnvironment()), ...options.settings };
  const env = withReactions(given, checked.reactions);
  const config = readConfig(env, { ...BROUGHT, needsKey: options.api ?? false });
  const acting = new ActingHost(config, options.tenant);
  const logger = options.logger ?? createLogger({ level: config.log.level });
  const { hooks } = checked;
  return new RunningFanfare<T>({ config, env, options, logger, acting, hooks });
}

interface Prepared {
  readonly config: Config;
  readonly env: Environment;
  readonly options: FanfareOptions;
  readonly logger: Logger;
  readonly acting: ActingHost;
  readonly hooks: CheckedHooks;
}

/** Loaded on first use: GraphQL makes up most of a process's start-up time. */
const loadGraphql = (): Promise<typeof InProcess> => import('./in-process.ts');

class RunningFanfare<T extends DescriptorDeclaration> implements Fanfare<T>, CommandServer {
  readonly #prepared: Prepared;
  readonly #acting: ActingHost;
  readonly #logFailure: ReturnType<typeof createFailureLog>;
  readonly #graphql: () => ReturnType<typeof InProcess.schemaOf>;
  #metrics: Metrics | null = null;
  #opening: Promise<OpenServer> | null = null;
  #server: OpenServer | null = null;
  #closing: Promise<void> | null = null;

  constructor(prepared: Prepared) {
    this.#prepared = prepared;
    this.#acting = prepared.acting;
    this.#logFailure = createFailureLog(prepared.logger);
    this.#graphql = once(async () => (await loadGraphql()).schemaOf(prepared.config));
  }

  get url(): string | null {
    return this.#server?.app.url ?? null;
  }

  get metrics(): Metrics {
    const { api = false, metrics = api, group } = this.#prepared.options;
    const areServed = api || metrics || group !== undefined;
    return (this.#metrics ??= createMetrics({ withProcess: areServed, parts: METRICS }));
  }

  async schema(): Promise<string> {
    const { printedSchema } = await loadGraphql();
    return printedSchema(await this.#graphql());
  }

  async start(): Promise<void> {
    if (this.#opening !== null || this.#closing !== null) throw new Error('start() can be called only once');
    this.#opening = openServer(this.#prepared, this.metrics);
    this.#server = await this.#opening;
  }

  async upsertMembers(members: readonly MemberInput[]): Promise<number> {
    return upsertMembers(this.#core(), this.#acting.service(), this.#acting.stored(members));
  }

  async upsertRefs(refs: readonly RefInput[]): Promise<number> {
    return upsertRefs(this.#core(), this.#acting.service(), this.#acting.stored({ refs }).refs);
  }

  async follow(pairs: readonly FollowInput[]): Promise<number> {
    return followMany(this.#core(), this.#acting.service(), this.#acting.stored(pairs));
  }

  async publish(publication: Publication<T>) {
    const input = this.#acting.stored<PublishActionInput>(publication);
    const { action, isReplay } = await publishAction(this.#core(), this.#acting.service(), input);
    return { action: this.#acting.shown(recordedAction<T>(action)), isReplay };
  }

  async delivered(): Promise<void> {
    await this.server().app.idle();
  }

  async read(memberId: string, { locale, ...args }: ReadOptions = {}): Promise<FeedItems<T>> {
    const core = this.#core();
    const { sentenceOfAction } = await loadGraphql();
    const reader = this.#acting.by(memberId, ['user']);
    const session = openSession(core, reader);
    const after = args.after == null ? null : core.cursors.given(reader.userId, args.after);
    const asked = { ...this.#acting.stored(args), after };
    const { edges, end, hasMore } = await readFeed(core, session, asked);
    const items = edges.map(async ({ node: { action, relevancy, reasons, isUnread } }) => ({
      action: recordedAction<T>(action),
      summary: await sentenceOfAction(session, action, localeFor(locale)),
      ...{ relevancy, reasons, isUnread },
    }));
    return {
      items: this.#acting.shown(await Promise.all(items)),
      endCursor: end === null ? null : core.cursors.shown(reader.userId, end),
      hasNextPage: hasMore,
    };
  }

  async query<R>(
    document: string,
    variables: Readonly<Record<string, unknown>> = {},
    { memberId, roles = ['user'], locale }: QueryOptions = {},
  ): Promise<Answer<R>> {
    const core = this.#core();
    const { runOperation } = await loadGraphql();
    return runOperation<R>(
      await this.#graphql(),
      core,
      {
        ...{ document, variables, locale: localeFor(locale) },
        identity: memberId === undefined ? this.#acting.service() : this.#acting.by(memberId, roles),
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
    // The caller of `start` already received the error.
    const server = await this.#opening?.catch(() => null);
    this.#server = null;
    await server?.[Symbol.asyncDispose]();
  }

  server(): OpenServer {
    if (this.#server === null) throw new Error('The server has not been started, or is closed');
    return this.#server;
  }

  #core(): Core {
    this.#acting.check();
    return this.server().app.core;
  }
}

/** Starts local databases if no address is given, then the app. On failure, closes what was started. */
async function openServer(
  { config: given, env, options, logger, hooks }: Prepared,
  metrics: Metrics,
): Promise<OpenServer> {
  const { api = false, worker = true, traces = false, waitsForRedis = false, pages, group } = options;
  const onEvent = options.onStep ?? (() => undefined);
  const parts = { ...{ api, worker, traces, waitsForRedis }, metrics: options.metrics ?? api };
  // In a group, the process that started the others has checked and logged this.
  const isFirst = group === undefined;
  if (isFirst) await checkBeforeStart(env, given, parts, logger);
  const databases = await startDatabases({ env }, given, { onEvent });
  try {
    if (isFirst) logDatabases(logger, { mongodb: databases.mongodbKind, redis: databases.redisKind });
    onEvent({ step: 'collections', message: 'Preparing collections and indexes' });
    const config = withAddresses(given, databases);
    const shown = { pageToken: pages?.token, demoPeople: pages?.people };
    const app = await createApp(config, parts, { logger, metrics, group, hooks, ...shown });
    return {
      app,
      config,
      databases,
      async [Symbol.asyncDispose]() {
        try {
          await app.close();
        } finally {
          await databases[Symbol.asyncDispose]();
        }
      },
    };
  } catch (error) {
    await databases[Symbol.asyncDispose]();
    throw error;
  }
}

function recordedAction<T extends DescriptorDeclaration>(action: Action): RecordedAction<T> {
  const { id, actorId, conducted, recorded, refs, descriptor } = action;
  return {
    id: encodeActionId(id),
    ...{ actorId, conducted, recorded, refs },
    // The declaration validated it when it was recorded.
    descriptor: descriptor as unknown as StoredDescriptorOf<T>,
  };
}
