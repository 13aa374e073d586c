import type { PartSettings } from '../config/part-settings.ts';
import type { SettingName } from '../config/settings.ts';
import type * as parts from './parts.ts';

type NameIn<P> = P extends { readonly settings: PartSettings<unknown, infer Name> } ? Name : never;

/** Of all settings, with those of parts. */
export type AnySettingName = SettingName | NameIn<(typeof parts)[keyof typeof parts]>;
