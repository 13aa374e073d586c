import type { FeedFilterRow, FeedOrderRow } from '../feed/page/declared.ts';
import type { FeedModel } from '../feed/feed-store.ts';
import type { Config } from '../config/config.ts';
import type { PartSettings } from '../config/part-settings.ts';
import type { HostPart } from '../descriptors/host-parts.ts';
import type { AssembleSchema } from '../graphql/builder.ts';
import type { Route } from '../http/route.ts';
import type { DeclareJob, DigestTime, NoteEvents } from '../jobs/job.ts';
import type { Declared, Documents } from '../storage/documents/declaration.ts';
import type { DeclareMetrics } from '../telemetry/metrics.ts';
import type { AddCommands, DemoMember, Examination, Processes } from './command-shapes.ts';

/** Everything that a feature brings to the server, or a part that a server can do without. */
export interface Part {
  readonly collections?: readonly { [Name in keyof Documents]: Declared<Name> }[keyof Documents][];
  /** Adds its fields to the API. Loaded when a process builds the API. */
  readonly api?: () => Promise<unknown>;
  /** Another way to put the schema together of all fields, by the configuration: `null` if a setting has it off. */
  readonly schema?: (config: Config) => AssembleSchema | null;
  /** Filters of feeds. */
  readonly filters?: readonly FeedFilterRow<unknown>[];
  /** Orders of feeds. */
  readonly orders?: readonly FeedOrderRow[];
  readonly feedModels?: readonly FeedModel[];
  /** Work in the background. */
  readonly jobs?: readonly DeclareJob[];
  /** Notified of events for hosts when they are moved to the log. */
  readonly eventNotes?: readonly NoteEvents[];
  /** Says when members may be sent a digest. */
  readonly digestTimes?: readonly DigestTime[];
  /** Variables of the environment, which are read, checked and documented with those of the core. `config.of` gives their values. */
  readonly settings?: PartSettings<unknown>;
  /** Its key of the host's configuration, and its phrases, which are checked with the rest. `ofHost` gives them. */
  readonly host?: HostPart;
  /** Its metrics; `metrics.of` with the same function gives them. */
  readonly metrics?: DeclareMetrics;
  /** What its use cases have of the configuration: fields that it adds to the type `Core`. */
  readonly core?: (config: Config) => object;
  /** Paths of the API's server, by the configuration: none if a setting has them off. What answers is loaded when it is asked. */
  readonly routes?: (config: Config) => readonly Route[];
  /** Commands of `fanfare`. What they run is loaded when they run. */
  readonly commands?: AddCommands;
  /** Findings of `fanfare doctor` about its data. */
  readonly examination?: Examination;
  /** `--processes`: the same command in several processes. Loaded when `serve` or `worker` runs. */
  readonly processes?: () => Promise<Processes>;
  /** People whom the console's page of the demo can act as. */
  readonly people?: readonly DemoMember[];
}
