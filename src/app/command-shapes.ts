import type { Command } from 'commander';
import type { Config } from '../config/config.ts';
import type { Environment } from '../config/env.ts';
import type { Brought } from '../config/read-config.ts';
import type { Databases } from '../connections/databases.ts';
import type { Core } from '../core/core.ts';
import type { HostConfig } from '../descriptors/host-config.ts';
import type { Readiness } from '../http/pages/health.ts';
import type { HttpServer } from '../http/server.ts';
import type { Database, DatabaseOptions, Finding } from '../storage/database/mongo.ts';
import type { Declaration } from '../storage/documents/declaration.ts';
import type { IndexDefinition } from '../storage/indexes/indexes.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { FanfareOptions } from './fanfare-shapes.ts';

// Commands are given these. They import nothing that is put together in `app/`: parts bring commands, and what is put together has parts in
// it.

/** Output of a command: its results go to stdout, everything else to stderr. */
export interface Terminal {
  out(line: string): void;
  note(line: string): void;
  /** stderr is a terminal: colours and progress bars are welcome. */
  readonly isInteractive: boolean;
  readonly stderr: NodeJS.WritableStream;
  /** Suppresses all further output. */
  mute(): void;
}

export interface CommandContext {
  readonly env: Environment;
  readonly terminal: Terminal;
  /** Checked host configuration; default: all types that ship with the server. */
  readonly hostConfig?: HostConfig;
  /** What features and parts bring to the configuration. */
  readonly brought: Brought;
  /** Loads the server: help and tokens do not wait for it. */
  readonly composed: () => Promise<Composed>;
}

/** The server as it is put together of its features and parts. */
export interface Composed {
  /** Every collection, including those of feed models. */
  readonly collections: readonly Declaration[];
  /** All indexes, including those for this process's types. @param options.hasTenants default false. */
  readonly allIndexes: (options?: { readonly hasTenants?: boolean }) => readonly IndexDefinition[];
  readonly connectDatabase: (options: DatabaseOptions) => Promise<Database>;
  /** The API's schema, including the configured types, as SDL. */
  readonly printedSchema: () => Promise<string>;
  /** A server as a host creates it, and access to what is in it. */
  readonly createServer: (hostConfig: HostConfig, options: FanfareOptions) => CommandServer;
}

/** Access for this package's own commands, beyond what hosts need. */
export interface CommandServer extends AsyncDisposable {
  readonly url: string | null;
  readonly metrics: Metrics;
  start(): Promise<void>;
  /** @throws Error before `start` and after `close`. */
  server(): OpenServer;
}

export interface OpenServer extends AsyncDisposable {
  readonly app: App;
  /** Includes the addresses of the databases in use, external or local. */
  readonly config: Config;
  readonly databases: Databases;
}

/** Everything that runs in one process, closed as one. */
export interface App extends AsyncDisposable {
  /** The first argument of use cases. */
  readonly core: Core;
  /** Base URL of the API; `null` without an API. */
  readonly url: string | null;
  readonly database: Database;
  /** Removes what was deleted from the files of local databases, too. */
  readonly forgetDeleted: () => Promise<void>;
  readonly http: HttpServer | null;
  readiness(): Promise<Readiness>;
  /** Number of actions whose fan-out is pending or in progress, across all processes. */
  openFanOuts(): Promise<number>;
  /** Number of feeds with a pending or running rebuild, across all processes. */
  openRebuilds(): Promise<number>;
  /** Resolves when no fan-out, rebuild or rename is pending or in progress in any process. */
  idle(): Promise<void>;
  /** Closes the API first, then the workers, then the connections. Idempotent. */
  close(): Promise<void>;
}

/** Findings of `fanfare doctor` about the data of a part. */
export type Examination = (database: Database) => AsyncGenerator<Finding>;

/** Adds commands to the program. @param exit receives a command's exit code. */
export type AddCommands = (
  program: Command,
  context: () => CommandContext,
  exit: (code: number) => void,
  examinations: readonly Examination[],
) => void;

/** A person whom the console's page of the demo can act as. */
export interface DemoMember {
  readonly memberId: string;
  readonly name: string;
}

/** The pieces of the server that a command runs. */
export interface CommandParts {
  readonly api: boolean;
  readonly worker: boolean;
  readonly traces?: boolean;
  readonly waitsForRedis?: boolean;
  readonly people?: readonly DemoMember[];
}

/** A running server, in this process or in several. */
export interface Running {
  readonly app: { readonly url: string | null };
  /** With the addresses of the databases in use, external or local. */
  readonly config: Config;
  /** Description of the databases, for people. */
  readonly databases: string;
  /** For the user demo with all roles; `null` where tokens are signed elsewhere. */
  readonly demoToken: string | null;
}

/** The same command in several processes. */
export interface Processes {
  /** Whether this process was started by one that runs the same command several times. */
  isMember(context: CommandContext): boolean;
  runMember(context: CommandContext, config: Config, parts: CommandParts): Promise<void>;
  runGroup(context: CommandContext, options: GroupRunOptions): Promise<Running>;
}

export interface GroupRunOptions {
  readonly config: Config;
  readonly parts: CommandParts;
  readonly count: number;
  /** Aborted by a signal. */
  readonly stop: AbortController;
  /** Records in DATA_DIR that they work, for `worker --health`. */
  readonly hasHeartbeat?: boolean;
}
