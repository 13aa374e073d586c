/** Nobody has it but who made it. Browsers give crypto.randomUUID only to pages that came by https or from this machine. */
export function randomKey(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-');
}
