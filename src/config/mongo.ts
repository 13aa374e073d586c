/**
 * What of a MongoDB URI would have reads miss what was written before them, in words that follow the name of the setting;
 * null: nothing. Every read must see each write that has returned, at whichever process. Names of options have no case.
 */
export function outdatedReads(uri: string): string | null {
  const [, query = ''] = uri.split('?', 2);
  const options = new Map(
    [...new URLSearchParams(query)].map(([name, value]) => [name.toLowerCase(), value]),
  );
  const preference = options.get('readpreference') ?? 'primary';
  if (preference !== 'primary')
    return `has readPreference=${preference}, expected primary: secondaries lag behind, and reads must see what was written`;
  const level = options.get('readconcernlevel') ?? 'local';
  const writes = options.get('w');
  if (writes === '0') return 'has w=0, expected writes to be acknowledged, such as by w=majority';
  if (level === 'available' || level === 'snapshot')
    return `has readConcernLevel=${level}, expected local: reads must see what was written`;
  // What one member alone has written is not read before most have it.
  if (level === 'majority' && writes !== 'majority')
    return 'has readConcernLevel=majority without w=majority, expected both or neither: reads must see what was written';
  return null;
}
