import {
  grouped,
  SETTINGS,
  type Group,
  type Setting,
  type SettingRow,
  type SettingValues,
  type ValuesOf,
} from './settings.ts';

/** What is wrong with one variable. */
export interface ConfigFault {
  readonly name: string;
  readonly message: string;
}

type Values = Readonly<Record<string, unknown>>;

/** Settings that a part of the server declares. What the part has of them is `config.of(…)` with this very object. */
export interface PartSettings<T, Name extends string = string> {
  readonly settings: Readonly<Record<Name, Setting>>;
  /** Made of valid values: those of the part and of the core. */
  readonly of: (values: Values) => T;
  readonly faults: (values: Values, found: readonly ConfigFault[]) => readonly ConfigFault[];
}

interface Declaration<S extends Readonly<Record<string, SettingRow>>, T> {
  /** Where the documentation has them. */
  readonly group: Group;
  readonly settings: S;
  /** What the part has of them, put together with values of the core. It is frozen. */
  readonly of: (values: ValuesOf<S> & SettingValues) => T;
  /** Rules over several variables. A value is missing if it has a fault of its own, which is in `found`. */
  readonly faults?: (
    values: Partial<ValuesOf<S> & SettingValues>,
    found: readonly ConfigFault[],
  ) => readonly ConfigFault[];
}

export function partSettings<const S extends Readonly<Record<string, SettingRow>>, T>({
  group,
  settings,
  of,
  faults = () => [],
}: Declaration<S, T>): PartSettings<T, keyof S & string> {
  type Declared = PartSettings<T, keyof S & string>;
  // `readConfig` reads all values by the rows here before it calls these.
  return {
    settings: grouped(group, settings),
    of: of as Declared['of'],
    faults: faults as Declared['faults'],
  };
}

export type Settings = readonly (readonly [name: string, setting: Setting])[];

/** All settings, in the order of the documentation: in each group those of the core come first. */
export function allSettings(parts: readonly PartSettings<unknown>[]): Settings {
  const all: Settings = [
    ...Object.entries(SETTINGS),
    ...parts.flatMap(({ settings }) => Object.entries(settings)),
  ];
  const groups = [...new Set(all.map(([, { group }]) => group))];
  return groups.flatMap((group) => all.filter(([, setting]) => setting.group === group));
}
