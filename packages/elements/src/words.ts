// In the package this is the file of @fanfare/react with the words, which it then does not need: see scripts/build.js.
export type { Words } from '@fanfare/react';
