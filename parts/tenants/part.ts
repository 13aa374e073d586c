import type { Part } from '../../src/app/part.ts';
import { addTenants } from './src/index.ts';

export const tenants = { commands: addTenants } satisfies Part;
