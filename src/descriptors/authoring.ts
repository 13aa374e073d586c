// Everything a configuration file imports.

export type { Hook, HookUrl } from './host-hooks.ts';
export { defineDescriptor, type DescriptorDeclaration } from './declare.ts';
export { field, type FieldDeclaration } from './field.ts';
export { defineConfig, type HostConfig } from './host-config.ts';
export type { LocaleDeclaration } from './host-locales.ts';
