import './http/routes.ts'; // layer-administration
