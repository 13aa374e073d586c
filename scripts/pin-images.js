// Adds to every image of other people the digest that its version has in its registry now, so that nobody can put another one under
// the same version. Needs Docker and a network.
//   node scripts/pin-images.js
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const FILES = ['Dockerfile', 'docker-compose.yml', 'templates/project/docker-compose.yml'];

/** `FROM name:1.2.3` and `image: name:1.2.3`, with or without a digest. */
const IMAGE = /^(FROM |\s*image: )([\w./-]+:\d+\.\d+\.\d+[\w.-]*)(?:@sha256:[0-9a-f]{64})?/gm;
const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** @param {string} text @param {(image: string) => string} digestOf @returns {string} */
export function pinned(text, digestOf) {
  return text.replace(IMAGE, (_, before, image) => {
    const digest = digestOf(image);
    if (!DIGEST.test(digest)) throw new Error(`The digest of ${image} is "${digest}", expected sha256:…`);
    return `${before}${image}@${digest}`;
  });
}

/** Of all platforms together. @param {string} image */
function digestInRegistry(image) {
  const args = ['buildx', 'imagetools', 'inspect', image, '--format', '{{.Manifest.Digest}}'];
  return execFileSync('docker', args, { encoding: 'utf8' }).trim();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const file of FILES) {
    const path = fileURLToPath(new URL(`../${file}`, import.meta.url));
    writeFileSync(path, pinned(readFileSync(path, 'utf8'), digestInRegistry));
  }
}
