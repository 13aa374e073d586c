import type { RankingWeights } from '../domain/ranking.ts';
import type { RelevancyWeights } from '../domain/relevancy.ts';
import type { WebhookReceiver } from '../domain/webhook.ts';
import type { Rate } from './kinds.ts';
import type { SettingName } from './settings.ts';
import type { LOG_LEVELS } from './settings/logs.ts';

export type LogLevel = (typeof LOG_LEVELS)[number];

/** Origins; `loopback`: pages of this machine, whatever their port. */
export type CorsOrigins = readonly string[] | '*' | 'loopback';

/** Everything that can be configured, read once at start and deeply frozen. Times are milliseconds. */
export interface Config {
  readonly isProduction: boolean;
  readonly http: {
    readonly host: string;
    /** 0: any free port. */
    readonly port: number;
    readonly graphiql: boolean;
    readonly console: boolean;
    readonly introspection: boolean;
    readonly maxBodyBytes: number;
    readonly maxUserBodyBytes: number;
    readonly maxBodyBytesUnderWay: number;
    readonly maxConnections: number;
    /** Null: no limit. */
    readonly rateLimits: {
      readonly requests: Rate | null;
      readonly cost: Rate | null;
      readonly tenantRequests: Rate | null;
      readonly tenantCost: Rate | null;
    };
    /** Null: every operation is sent as a document. */
    readonly persistedOperations: { readonly path: string; readonly isOnly: boolean } | null;
    /** Whose pages browsers let call the API; empty: none. */
    readonly corsOrigins: CorsOrigins;
    readonly socketIdleMs: number;
  };
  /** How much each tenant may have by the API. Null: no limit. */
  readonly tenants: { readonly members: number | null; readonly publications: Rate | null };
  /** Without a port they are served beside the API. */
  readonly metrics: { readonly port?: number; readonly token?: string };
  readonly auth: {
    readonly jwtSecret?: string;
    readonly jwksUri?: string;
    readonly issuer?: string;
    readonly audience?: string;
    /** Absent: tenants are off. */
    readonly tenantClaim?: string;
    readonly jwksMaxAgeMs: number;
    readonly jwksMaxStaleMs: number;
  };
  readonly mongodb: { readonly uri?: string; readonly db: string };
  readonly redis: { readonly url?: string; readonly sentinel?: string; readonly prefix: string };
  /** Absolute. Data of embedded engines and the kept secret. */
  readonly dataDir: string;
  /** Absolute. What can be fetched or built again. */
  readonly cacheDir: string;
  /** What a process holds of what it has read, roughly. */
  readonly cacheBytes: number;
  readonly feeds: {
    readonly model: string;
    readonly celebrityThreshold: number;
    readonly cap: number;
    readonly dormantAfterMs: number;
    /** Null: what is stored of dormant readers stays. */
    readonly dropAfterMs: number | null;
    /** Null: who never reads is delivered to. */
    readonly neverReadAfterMs: number | null;
    readonly reactions: readonly string[];
    readonly relevancyWeights: RelevancyWeights;
    readonly ranking: RankingWeights;
  };
  readonly fanOut: {
    readonly chunkSize: number;
    readonly leaseMs: number;
    readonly maxAttempts: number;
    readonly concurrency: number;
    readonly pollMs: number;
  };
  readonly live: {
    readonly windowMs: number;
    readonly maxEvents: number;
    readonly maxBufferedEvents: number;
    readonly maxSubscriptionsPerConnection: number;
    readonly maxSubscriptionsPerUser: number;
  };
  readonly events: {
    /** Null: no events are recorded. */
    readonly retentionMs: number | null;
    /** Null: nobody is reminded. */
    readonly digests: { readonly afterMs: number; readonly everyMs: number } | null;
    readonly webhooks: {
      readonly receivers: readonly WebhookReceiver[];
      readonly timeoutMs: number;
      readonly retryForMs: number;
    };
  };
  readonly log: { readonly level: LogLevel };
  /** Of `--processes`. Null: one that hangs stays. */
  readonly processes: {
    readonly answerWithinMs: number | null;
    readonly startAnswerWithinMs: number | null;
  };
}

export interface ConfigFault {
  readonly name: SettingName;
  readonly message: string;
}

/** Names every fault of the environment at once. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly faults: readonly ConfigFault[];

  constructor(faults: readonly ConfigFault[]) {
    const lines = faults.map((fault) => `  ${fault.name}: ${fault.message}`);
    super(
      `The configuration has ${faults.length === 1 ? 'a fault' : `${String(faults.length)} faults`}:\n${lines.join('\n')}`,
    );
    this.faults = faults;
  }
}
