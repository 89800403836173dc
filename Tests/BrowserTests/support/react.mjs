/** As much of React as the hook uses; a component runs again when its state is set. */
export const react = `
let current;
export function useState(initial) {
  const { states, index } = current;
  const mine = current;
  const place = mine.index++;
  if (place === states.length) states.push(initial);
  return [states[place], (value) => { states[place] = value; render(mine); }];
}
export function useEffect(effect, dependencies) {
  const { effects } = current;
  const place = current.effectIndex++;
  const last = effects[place];
  if (last && dependencies.every((one, index) => one === last.dependencies[index])) return;
  last?.cleanUp?.();
  effects[place] = { dependencies };
  effects[place].cleanUp = effect();
}
export function render(component) {
  current = Object.assign(component, { index: 0, effectIndex: 0 });
  component.draw();
}
export const mounted = (draw) => ({ draw, states: [], effects: [] });
`;
