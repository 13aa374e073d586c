/** Nobody has it but who made it. Browsers give crypto.randomUUID only to pages that came by https or from this machine. */
export function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}
