/**
 * Describes the options of a MongoDB URI that would let reads miss earlier writes; follows the name of the setting in a
 * message. `null`: none. Every read must see each write that has returned, on any process. Option names are
 * case-insensitive.
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
  // A majority read misses writes that only one member has confirmed.
  if (level === 'majority' && writes !== 'majority')
    return 'has readConcernLevel=majority without w=majority, expected both or neither: reads must see what was written';
  return null;
}
