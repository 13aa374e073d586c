// The package exports these: the functions of a configuration, and a server for processes of a host.

import type { FanfareOptions as Options } from './app/fanfare-shapes.ts';
import type { AnySettingName } from './app/setting-name.ts';

export { createFanfare } from './app/fanfare.ts';
export type {
  Fanfare,
  FeedItem,
  FeedItems,
  Publication,
  QueryOptions,
  ReadOptions,
  RecordedAction,
} from './app/fanfare-shapes.ts';
export type FanfareOptions = Options<AnySettingName>;
export { ConfigError } from './config/config.ts';
export {
  defineConfig,
  defineDescriptor,
  field,
  type DescriptorDeclaration,
  type FieldDeclaration,
  type Hook,
  type HookUrl,
  type HostConfig,
  type LocaleDeclaration,
} from './descriptors/authoring.ts';
export { HostConfigError } from './descriptors/host-config.ts';
export { FanfareError } from './domain/errors.ts';
