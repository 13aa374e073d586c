/** As a text, for the oldest browsers: see vite.config.js. */
declare module '*.css' {
  const text: string;
  export default text;
}
