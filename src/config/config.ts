import type { RankingWeights } from '../domain/ranking.ts';
import type { RelevancyWeights } from '../domain/relevancy.ts';
import type { WebhookReceiver } from '../domain/webhook.ts';
import type { Rate } from './kinds.ts';
import type { SettingName } from './settings.ts';
import type { LOG_LEVELS } from './settings/logs.ts';

export type LogLevel = (typeof LOG_LEVELS)[number];

/** Allowed origins. `loopback`: pages of this machine on any port. */
export type CorsOrigins = readonly string[] | '*' | 'loopback';

/** The whole configuration, read once at start and deeply frozen. Times are in milliseconds. */
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
    readonly maxAnswerBytes: number;
    readonly maxAnswerBytesUnderWay: number;
    readonly maxConnections: number;
    /** Addresses and networks of proxies whose X-Forwarded-For counts. */
    readonly trustedProxies: readonly string[];
    /** `null`: no limit. */
    readonly rateLimits: {
      readonly requests: Rate | null;
      readonly cost: Rate | null;
      readonly tenantRequests: Rate | null;
      readonly tenantCost: Rate | null;
    };
    /** `null`: clients always send whole documents. */
    readonly persistedOperations: { readonly path: string; readonly isOnly: boolean } | null;
    /** Origins whose pages may call the API from a browser; empty: none. */
    readonly corsOrigins: CorsOrigins;
    readonly socketIdleMs: number;
  };
  /** Quotas of each tenant for writes through the API. `null`: no limit. */
  readonly tenants: { readonly members: number | null; readonly publications: Rate | null };
  /** Without a port, metrics are served beside the API. */
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
  /** Absolute path. Holds the data of embedded engines and the generated secret. */
  readonly dataDir: string;
  /** Absolute path. Holds files that can be fetched or built again. */
  readonly cacheDir: string;
  /** Approximate upper bound on the memory of a process's caches, in bytes. */
  readonly cacheBytes: number;
  readonly feeds: {
    readonly model: string;
    readonly celebrityThreshold: number;
    readonly cap: number;
    readonly dormantAfterMs: number;
    /** `null`: stored feeds of dormant readers are kept. */
    readonly dropAfterMs: number | null;
    /** `null`: readers who never read still receive deliveries. */
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
    /** `null`: no events are recorded. */
    readonly retentionMs: number | null;
    /** `null`: no digests. */
    readonly digests: { readonly afterMs: number; readonly everyMs: number } | null;
    readonly webhooks: {
      readonly receivers: readonly WebhookReceiver[];
      readonly timeoutMs: number;
      readonly retryForMs: number;
    };
  };
  readonly log: { readonly level: LogLevel };
  /** For `--processes`. `null`: hanging processes are not replaced. */
  readonly processes: {
    readonly answerWithinMs: number | null;
    readonly startAnswerWithinMs: number | null;
  };
}

export interface ConfigFault {
  readonly name: SettingName;
  readonly message: string;
}

/** Lists every fault of the environment at once. */
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
