#!/usr/bin/env node
// In a checkout the sources run as they are, so that what runs is never older than what one reads; a package or an
// image has only the build.
import { existsSync } from 'node:fs';

if (existsSync(new URL('../src/main.ts', import.meta.url))) {
  const { register } = await import('tsx/esm/api');
  register();
  await import('../src/main.ts');
} else {
  await import('../dist/main.js');
}
