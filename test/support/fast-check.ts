import fc from 'fast-check';
import { SEED } from './seed.ts';

// Files of tests that share a process share this too: the seed is the same for all of them.
fc.configureGlobal({ seed: SEED });

export { fc };
