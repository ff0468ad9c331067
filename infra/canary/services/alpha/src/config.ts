import './store/things.ts'; // layer-config
