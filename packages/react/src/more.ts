// Not every page needs these: they are not part of what all pages load.
export * from './more-hooks.ts';
export * from './more-parts.ts';
