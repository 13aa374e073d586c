// What is marked as of the client are the modules that this names, so that an app has the hooks alone.
export * from './hooks.ts';
export * from './parts.ts';
