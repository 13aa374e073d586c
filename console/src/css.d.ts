declare module '*.css';
declare module '*?raw' {
  const text: string;
  // eslint-disable-next-line no-restricted-exports -- as Vite gives it
  export default text;
}
